# Orrery's build. Read it from top to bottom: what you can say, what is found, which files, which flags, the rules
# that make files out of files, and last the targets for people. `make` alone lists those; V=1 shows every command.

# ---- How make itself shall work ---------------------------------------------------------------------------------

# -r and -R switch off make's built-in rules and variables: everything that happens is written in this file.
MAKEFLAGS += -rR
.SUFFIXES:
# A command that fails leaves no half-written file behind that would look finished next time.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# As many commands at once as there are cores. A -j of yours counts more than this one.
ifeq ($(MAKELEVEL),0)
  MAKEFLAGS += -j$(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
endif
# "make clean all" means one after the other.
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

# ---- What you can say on the command line -----------------------------------------------------------------------

## BUILD=release         -O2, the kernels -O3 (the default)
## BUILD=debug           -O0 -g3 outside the kernels, one thread: for stepping through
## BUILD=asan            stops at the first bad memory access or undefined operation
## OPENBLAS=0 OPENMP=0   build without the library, without the simd pragmas
## CXX=clang++           another compiler
## WERROR=1              warnings are errors
## V=1                   show every command
## TIME=SECONDS          with fuzz: for each target, 120 by default
## T=PATTERN             with test: only test cases whose name contains PATTERN
## MODEL=FILE            with demo: the model to run
## PREFIX=DIR            with install: where to, /usr/local by default; DESTDIR goes in front of it
BUILD    ?= release
OPENBLAS ?= 1
OPENMP   ?= 1
PREFIX   ?= /usr/local

# BUILD=fuzz is for make fuzz, which calls make again with it.
ifeq ($(filter $(BUILD),release debug asan fuzz),)
  $(error BUILD=$(BUILD) is unknown: say release, debug or asan)
endif
# CXX is yours if you set it, else g++, else clang++.
ifeq ($(filter-out default undefined,$(origin CXX)),)
  CXX := $(if $(shell command -v g++ 2>/dev/null),g++,$(if $(shell command -v clang++ 2>/dev/null),clang++,g++))
endif
ifeq ($(filter-out default undefined,$(origin AR)),)
  AR := ar
endif
# A recipe line that starts with $(Q) is silent unless V=1.
Q := $(if $(filter 1,$(V)),,@)

# Every kind of build has a folder of its own, so their objects never mix.
WITHOUT := $(if $(filter 0,$(OPENMP)),-noomp)$(if $(filter 0,$(OPENBLAS)),-noblas)
OUT     := build/$(BUILD)$(if $(filter fuzz,$(BUILD)),,$(WITHOUT))
LIBRARY := $(OUT)/liborrery.a
PROGRAM := $(OUT)/orrery
TESTS   := $(OUT)/orrery_tests
CHECKS  := $(OUT)/orrery_data_checks

# ---- What this machine has --------------------------------------------------------------------------------------

# scripts/detect.sh asks the compiler once and keeps the answers in a file of variables that is read here.
CONFIG    := build/config$(WITHOUT)$(if $(filter fuzz,$(BUILD)),-fuzz).mk
NO_BUILD  := help check check-get-model format clean uninstall fuzz
BUILDING  := $(filter-out $(NO_BUILD),$(MAKECMDGOALS))
ifneq ($(BUILDING),)
  ifneq ($(filter reconfigure,$(MAKECMDGOALS)),)
    $(shell rm -f build/config*.mk)
  endif
  NEEDED  := CLI11 nlohmann-json PCRE2 utf8proc stb $(if $(filter test check-data,$(MAKECMDGOALS)),doctest)
  PROBLEM := $(shell sh scripts/detect.sh $(CONFIG) '$(CXX)' $(OPENMP) $(OPENBLAS) $(NEEDED))
  ifneq ($(PROBLEM),)
    $(error $(PROBLEM))
  endif
  include $(CONFIG)
endif

# ---- Which files ------------------------------------------------------------------------------------------------

# $(call files,FOLDER,PATTERN): all files below FOLDER with such a name, in an order that is the same everywhere.
files = $(shell find $(1) -name '$(2)' ! -name '.*' 2>/dev/null | LC_ALL=C sort)

MAIN    := src/cli/main.cpp
SOURCES := $(filter-out $(MAIN),$(call files,src,*.cpp))
# What the fuzz targets try out and what that needs.
ifeq ($(BUILD),fuzz)
  SOURCES := $(filter src/base/% src/tensor/% src/text/% src/config/% src/files/% src/learn/story_grammar%,$(SOURCES))
endif

# The inner loops in kernels/fast/isa are compiled once per instruction set, into namespaces of different names.
# *_avx2.cpp is written in AVX2 intrinsics and exists for that one only.
ISA_SOURCES  := $(filter src/kernels/fast/isa/%,$(SOURCES))
AVX2_SOURCES := $(filter %_avx2.cpp,$(ISA_SOURCES))
ISA_OBJECTS  := $(foreach isa,$(ISAS),$(patsubst src/%.cpp,$(OUT)/obj/%.$(isa).o,$(filter-out \
                $(if $(filter baseline,$(isa)),$(AVX2_SOURCES)),$(ISA_SOURCES))))

MAIN_OBJECT := $(MAIN:src/%.cpp=$(OUT)/obj/%.o)
OBJECTS     := $(patsubst src/%.cpp,$(OUT)/obj/%.o,$(filter-out $(ISA_SOURCES),$(SOURCES))) $(ISA_OBJECTS)

TEST_COMMON  := tests/main.cpp $(call files,tests/support,*.cpp)
# What sanitizers watch is the library. The tests that use it are compiled once, for the release build.
TEST_OUT     := $(if $(filter asan,$(BUILD)),build/release$(WITHOUT),$(OUT))
TEST_OBJECTS := $(patsubst tests/%.cpp,$(TEST_OUT)/tests/%.o,$(TEST_COMMON) $(call files,tests,*_test.cpp))
# A target for each *_fuzz.cpp.
FUZZERS      := $(patsubst tests/fuzz/%_fuzz.cpp,$(OUT)/%,$(call files,tests/fuzz,*_fuzz.cpp))
CHECK_OBJECTS:= $(patsubst tests/%.cpp,$(OUT)/tests/%.o,$(TEST_COMMON) $(call files,tests/data,*_check.cpp))

# Every lesson is a program: lessons/05-attention/main.cpp becomes build/release/lessons/05-attention.
LESSONS        := $(patsubst lessons/%/main.cpp,%,$(call files,lessons,main.cpp))
LESSON_PROGRAMS:= $(LESSONS:%=$(OUT)/lessons/%)

# Data that is compiled in: src/config/models.table becomes $(OUT)/data/config/models.table.inc, a string literal.
#   static constexpr char text[] =
#   #include "config/models.table.inc"
#   ;
COMPILED_IN   := $(foreach kind,table grammar html css js,$(call files,src,*.$(kind)))
DATA_INCLUDES := $(COMPILED_IN:src/%=$(OUT)/data/%.inc) $(OUT)/data/build_info.inc

# ---- Which flags ------------------------------------------------------------------------------------------------

# -Wall -Wextra: what the compiler finds suspicious. -Wshadow: a variable that hides another of the same name.
# Off again: -Wmissing-field-initializers, because {.a = 1} is meant to leave the other members at their defaults;
# for g++ also -Wrestrict: g++ 12 sees an overlap in "text" + string that is not there (GCC bug 105329).
WARNINGS := -Wall -Wextra -Wshadow -Wno-missing-field-initializers \
            $(if $(findstring clang,$(CONFIG_COMPILER)),,-Wno-restrict) $(if $(filter 1,$(WERROR)),-Werror)
# -I: where #include "..." is looked for.
INCLUDES := -Isrc -I$(OUT)/data
# -D defines a macro: what the code may use on this machine.
DEFINES  := $(if $(filter 1,$(CONFIG_OPENBLAS)),-DORRERY_OPENBLAS=1)

# -O says how hard the optimiser works, -g keeps names and line numbers for the debugger. The kernels are where the
# time goes. They get -O3 (more unrolling and vectors), in the debug build as well: it shall stay usable.
# -ffast-math is nowhere: it lets the compiler assume that NaN and infinity do not exist, and they do.
ifeq ($(BUILD),release)
  OPTIMIZE         := -O2 -g
  OPTIMIZE_KERNELS := -O3 -g
  # -g1: lines and functions, enough for a stack trace; variables too (-g) would take half as long again to compile.
  OPTIMIZE_TESTS   := -O1 -g1
endif
# -g3 keeps macros too. _GLIBCXX_ASSERTIONS: v[i] stops when i is out of range.
ifeq ($(BUILD),debug)
  OPTIMIZE         := -O0 -g3
  OPTIMIZE_KERNELS := -O3 -g
  OPTIMIZE_TESTS   := -O0 -g3
  DEFINES          += -DORRERY_DEBUG -DORRERY_DEFAULT_THREADS=1 -D_GLIBCXX_ASSERTIONS
endif
# -fsanitize puts a check around every memory access (address) and every operation that C++ leaves undefined;
# -fno-sanitize-recover stops at the first; frame pointers make its stack traces quick and complete.
ifeq ($(BUILD),asan)
  SANITIZE         := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  # Checks that are to be optimised take the compiler three times as long; only the kernels' time is worth it.
  OPTIMIZE         := -O0 -g1
  OPTIMIZE_KERNELS := -O1 -g1
  OPTIMIZE_TESTS   := -O0 -g1
  DEFINES          += -D_GLIBCXX_ASSERTIONS
endif
# fuzzer-no-link counts which branches are reached; libFuzzer itself comes in when a target is linked.
ifeq ($(BUILD),fuzz)
  SANITIZE         := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPTIMIZE         := -O1 -g1
  OPTIMIZE_KERNELS := $(OPTIMIZE)
  OPTIMIZE_TESTS   := $(OPTIMIZE)
  DEFINES          += -D_GLIBCXX_ASSERTIONS
endif

# For all files. Your own CPPFLAGS and CXXFLAGS come last and so win.
# -MMD writes a .d file beside the object: the headers it was made from, as make rules (read at the end of this
# file). -MP keeps make from stumbling when such a header is deleted.
FLAGS = $(strip -std=c++20 $(WARNINGS) $(INCLUDES) $(CONFIG_FLAGS) $(DEFINES) $(OPTIMIZE) $(SANITIZE) $(OPENMP_FLAGS) \
        $(OPENBLAS_FLAGS) $(ARITHMETIC) $(ISA) $(EXTRA) $(PRECOMPILED) -MMD -MP $(CPPFLAGS) $(CXXFLAGS))
LINK  = $(SANITIZE) -pthread $(CONFIG_LIBS) $(LDFLAGS)
# As they are for a file about which nothing special is said below.
COMMON_FLAGS := $(FLAGS)

# "target: NAME := value" changes a variable for the files that match the target.
$(OUT)/obj/kernels/%.o:           OPTIMIZE := $(OPTIMIZE_KERNELS)
# a*b+c may be one operation with one rounding (fused) or two. The reference says which: two, on every machine.
$(OUT)/obj/kernels/reference/%.o: ARITHMETIC := -ffp-contract=off
# Without x86-64-v3 the choice at start has nothing to choose from.
ifeq ($(filter x86_64_v3,$(ISAS)),)
$(OUT)/obj/kernels/fast/%.o:      EXTRA := -DORRERY_ONLY_BASELINE
endif
$(OUT)/obj/%.baseline.o:          ISA := -DORRERY_ISA=baseline
# x86-64-v3: AVX2, FMA and F16C, in PCs since about 2013.
$(OUT)/obj/%.x86_64_v3.o:         ISA := -DORRERY_ISA=x86_64_v3 -march=x86-64-v3
# Tests spawn the program and read files, so they must know where these are. doctest's fast asserts compile faster.
$(OUT)/tests/%:                   OPTIMIZE := $(OPTIMIZE_TESTS)
# The parser of the command line is templates all the way down and runs once: optimising it takes ten seconds a file, with
# sanitizers minutes.
$(OUT)/obj/cli/option%.o:         OPTIMIZE := -O0 -g
# What a lesson spells out is there to be stepped through.
$(OUT)/lessons/%.o:               EXTRA := -Ilessons
$(OUT)/tests/%:                   EXTRA := -Itests -DDOCTEST_CONFIG_SUPER_FAST_ASSERTS \
    '-DORRERY_PROGRAM="$(CURDIR)/$(PROGRAM)"' '-DORRERY_TEST_DATA="$(CURDIR)/tests/data"'

# Up to a quarter of a file's compile time goes into the standard library's headers. g++ reads them once (a precompiled
# header) and loads the result for every file, which -include puts in front of it. g++ 12 then no longer keeps silent
# about some false alarms in them (bug 105651), hence the -Wno-. The sanitizer build goes without: it finds a file that
# does not include what it uses.
ifeq ($(findstring clang,$(CONFIG_COMPILER))$(filter asan fuzz,$(BUILD)),)
  HEADERS      := $(OUT)/precompiled.h.gch
  TEST_HEADERS := $(OUT)/tests/precompiled.h.gch
  LOAD         := -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -include
$(OUT)/obj/%.o:                   PRECOMPILED := $(LOAD) $(HEADERS:.gch=)
$(OUT)/lessons/%.o:               PRECOMPILED := $(LOAD) $(HEADERS:.gch=)
$(OUT)/tests/%.o:                 PRECOMPILED := $(LOAD) $(TEST_HEADERS:.gch=)
$(OUT)/obj/kernels/%.o:           PRECOMPILED :=
$(OUT)/obj/cli/option%.o:         PRECOMPILED :=
endif

# ---- Rules: files out of files ----------------------------------------------------------------------------------

# FORCE is never up to date, so what depends on it is always tried. $(keep_if_same) replaces a file only when its
# content changes: what depends on the file is made again only then.
.PHONY: FORCE
keep_if_same = if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Other flags or another compiler: all objects are made again.
$(OUT)/flags.txt: FORCE
	@mkdir -p $(@D)
	@echo '$(CXX) ($(CONFIG_COMPILER)) $(subst ','\'',$(COMMON_FLAGS) | $(OPTIMIZE_KERNELS) | $(CURDIR))' > $@.new
	@$(keep_if_same)

# Another set of objects (a source was deleted): the library is put together again.
$(OUT)/objects.txt: FORCE
	@mkdir -p $(@D)
	@echo '$(OBJECTS)' > $@.new
	@$(keep_if_same)

# The facts that `orrery doctor` prints, as the initialiser of BuildInfo (src/base/build_info.h).
$(OUT)/data/build_info.inc: FORCE
	@mkdir -p $(@D)
	@printf '"%s",\n"%s",\n"%s",\n"%s",\n%s,\n%s,\n' \
	  "$$(git describe --always --dirty 2>/dev/null || echo unknown)" '$(CONFIG_COMPILER)' \
	  '$(subst ','\'',$(subst ",\",$(subst \,\\,$(filter-out -W% -I% -M% -D%,$(COMMON_FLAGS)))))' '$(BUILD)' \
	  '$(if $(filter 1,$(CONFIG_OPENMP)),true,false)' '$(if $(filter 1,$(CONFIG_OPENBLAS)),true,false)' > $@.new
	@$(keep_if_same)

$(OUT)/data/%.inc: src/%
	@mkdir -p $(@D)
	@{ printf 'R"~~~('; cat $<; printf ')~~~"\n'; } > $@

# $@ is the target, $< the first prerequisite, $^ all of them. What stands behind | must exist, but a newer one does
# not cause a rebuild; the .d files do that for those who include the data.
COMPILE = @mkdir -p $(@D) && echo "compile $(@:$(OUT)/%=%)"
ifneq ($(HEADERS),)
$(HEADERS): src/base/precompiled.h
$(TEST_HEADERS): tests/support/precompiled.h src/base/precompiled.h
# The header itself lies beside it, for whom what was made of it does not fit.
$(HEADERS) $(TEST_HEADERS): $(OUT)/flags.txt
	$(COMPILE)
	@cp $(firstword $(filter %.h,$^)) $(@:.gch=)
	$(Q)$(CXX) $(FLAGS) -x c++-header $(firstword $(filter %.h,$^)) -o $@
endif

$(OUT)/obj/%.o: src/%.cpp $(OUT)/flags.txt $(HEADERS) | $(DATA_INCLUDES)
	$(COMPILE)
	$(Q)$(CXX) $(FLAGS) -c $< -o $@

$(OUT)/obj/%.baseline.o: src/%.cpp $(OUT)/flags.txt | $(DATA_INCLUDES)
	$(COMPILE)
	$(Q)$(CXX) $(FLAGS) -c $< -o $@

# An inline function from a header would be a weak symbol here, and the linker might let the whole program use this
# copy: an illegal instruction on an older CPU. So there must be none (nm prints them as W or V).
$(OUT)/obj/%.x86_64_v3.o: src/%.cpp $(OUT)/flags.txt | $(DATA_INCLUDES)
	$(COMPILE)
	$(Q)$(CXX) $(FLAGS) -c $< -o $@
ifeq ($(BUILD),release)
	@if nm -C $@ | grep ' [WV] ' | grep -v DW.ref; then \
	  echo "$<: these inline functions would replace the baseline's; make them static or do without" >&2; exit 1; fi
endif

$(OUT)/tests/%.o: tests/%.cpp $(OUT)/flags.txt $(TEST_HEADERS) | $(DATA_INCLUDES)
	$(COMPILE)
	$(Q)$(CXX) $(FLAGS) -c $< -o $@

$(OUT)/lessons/%.o: lessons/%/main.cpp $(OUT)/flags.txt $(HEADERS) | $(DATA_INCLUDES)
	$(COMPILE)
	$(Q)$(CXX) $(FLAGS) -c $< -o $@

# A library is a bundle of objects. It is written anew: ar would keep members whose source is gone.
$(LIBRARY): $(OBJECTS) $(OUT)/objects.txt
	@rm -f $@
	$(Q)$(AR) rcs $@ $(OBJECTS)

# -o output, then objects, then libraries: a library gives only what something to its left asked for.
$(PROGRAM): $(MAIN_OBJECT) $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ $(LINK) $(OPENBLAS_LIBS)

ifeq ($(TEST_OUT),$(OUT))
$(TESTS): $(TEST_OBJECTS) $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ $(LINK) $(OPENBLAS_LIBS)
else
# Of an inline function that both have compiled, the linker takes the first it meets: all of the library comes first.
$(TESTS): $(TEST_OBJECTS) $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) -Wl,--whole-archive $(LIBRARY) -Wl,--no-whole-archive $(TEST_OBJECTS) -o $@ $(LINK) $(OPENBLAS_LIBS)

.PHONY: release-test-objects
release-test-objects:
	+$(Q)$(MAKE) --no-print-directory BUILD=release test-objects
$(TEST_OBJECTS): release-test-objects ;
endif

.PHONY: test-objects
test-objects: $(TEST_OBJECTS)

$(CHECKS): $(CHECK_OBJECTS) $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ $(LINK) $(OPENBLAS_LIBS)

$(LESSON_PROGRAMS): %: %.o $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ $(LINK) $(OPENBLAS_LIBS)

$(FUZZERS): $(OUT)/%: $(OUT)/tests/fuzz/%_fuzz.o $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ -fsanitize=fuzzer $(LINK)

$(OUT)/seeds: $(OUT)/tests/fuzz/seeds.o $(LIBRARY)
	@echo "link    $@"
	$(Q)$(CXX) $^ -o $@ $(LINK)

# Objects stay even if they are only a step on the way to something.
.SECONDARY:

# The header dependencies that -MMD wrote. There are none before the first build; that is fine.
-include $(wildcard $(patsubst %.o,%.d,$(OBJECTS) $(MAIN_OBJECT) $(TEST_OBJECTS) $(CHECK_OBJECTS)) \
         $(LESSON_PROGRAMS:%=%.d))
-include $(wildcard $(OUT)/tests/fuzz/*.d)

# ---- Targets for people -----------------------------------------------------------------------------------------

# .PHONY: names of things to do, not of files.
.PHONY: help all demo storyteller test check check-data check-get-model check-page check-lessons lessons lesson-programs figures \
        fuzz fuzz-targets install uninstall format clean reconfigure

# The lines with two #, here and above, are the help.
help: ## this list
	@echo "make TARGET [NAME=VALUE...]"
	@awk '/^[a-z][a-z-]*:.*## / { name = $$0; sub(/:.*/, "", name); sub(/.*## /, ""); printf "  %-22s%s\n", name, $$0 } \
	  /^## / { values = values "  " substr($$0, 4) "\n" } END { printf "\n%s", values }' Makefile

all: $(PROGRAM) ## the program, and ./orrery as a link to it
	@ln -sfn $(PROGRAM) orrery

demo: all ## let the model in models/ tell a story, or MODEL=FILE continue one
	@./orrery run $${MODEL:+-m "$$MODEL"} -p 'Once upon a time'

# Interrupted, it goes on where it was the next time.
STORYTELLER := build/storyteller/storyteller
storyteller: all ## train models/storyteller.gguf anew: about an hour on two cores
	@mkdir -p $(@:%=build/%)
	./orrery stories -n 120000 --seed 1 > $(STORYTELLER).txt
	./orrery train-tokenizer $(STORYTELLER).txt --vocab-size 3072 --han-apart -o $(@:%=build/%)/tokenizer.json
	./orrery train $(STORYTELLER).txt --config models/storyteller.ini -o $(STORYTELLER).gguf \
	  $$([ -e $(STORYTELLER).state.gguf ] && echo --resume)
	cp $(STORYTELLER).gguf $(STORYTELLER).png models/
	./orrery eval --training $(STORYTELLER).txt

test: $(TESTS) $(PROGRAM) ## build and run the tests (BUILD=asan and BUILD=debug too)
	@[ -e orrery ] || ln -sfn $(PROGRAM) orrery
	@ORRERY_TEST_PROGRAM='$(CURDIR)/$(PROGRAM)' sh scripts/run_tests.sh $(TESTS) $(if $(T),"--test-case=*$$T*")

check: ## the rules of the house: floors, lengths, layout, documents
	@sh scripts/check.sh

# make lesson-05: that lesson's program. Its picture goes to build/, the one in the document is made by "make figures".
# What must be built first is a make of its own, whose lines do not mix with the lesson's.
LESSON_RUNS := $(foreach lesson,$(LESSONS),lesson-$(firstword $(subst -, ,$(lesson))))
.PHONY: $(LESSON_RUNS)
lesson = $(filter $(@:lesson-%=%)-%,$(LESSONS))
$(LESSON_RUNS): lesson-programs
	@$(OUT)/lessons/$(lesson) --figure $(OUT)/lessons/$(lesson).png

lesson-programs: $(LESSON_PROGRAMS) $(PROGRAM)
	@[ -e orrery ] || ln -sfn $(PROGRAM) orrery

lessons: lesson-programs ## run all lessons; "make lesson-05" runs one
	@for lesson in $(LESSONS); do printf '\n==== %s\n\n' "$$lesson" && \
	  $(OUT)/lessons/$$lesson --figure $(OUT)/lessons/$$lesson.png || exit 1; done

figures: lesson-programs ## draw the pictures of the lessons anew
	@for lesson in $(LESSONS); do echo "figure  lessons/$$lesson/figure.png" && \
	  $(OUT)/lessons/$$lesson --figure lessons/$$lesson/figure.png >/dev/null || exit 1; done

# Their documents show the debug build in gdb.
check-lessons: lesson-programs ## run every command in the lessons' documents, and compare what it prints
	@$(MAKE) --no-print-directory BUILD=debug lesson-programs
	@sh scripts/lessons.sh check

# Asked before anything is compiled: a wrong folder shall not cost a minute.
ifneq ($(filter check-data,$(MAKECMDGOALS)),)
  ifeq ($(DATA),)
    $(error check-data needs the folder of the public data: make check-data DATA=DIR)
  endif
  ifeq ($(shell [ -d '$(DATA)' ] && echo yes),)
    $(error DATA=$(DATA) is not a folder)
  endif
endif
check-data: $(CHECKS) $(PROGRAM) ## compare with real public files: DATA=DIR
	@ORRERY_DATA="$$(cd '$(DATA)' && pwd)" $(CHECKS) $(if $(T),"--test-case=*$$T*")

check-page: $(PROGRAM) ## the page of orrery trace --html, used in a headless browser
	@sh scripts/check/page.sh $(PROGRAM)

check-get-model: ## scripts/get-model.sh against a web server on localhost
	@sh scripts/check/get-model.sh

TIME ?= 120
fuzz: ## throw made-up bytes at every reader, TIME=SECONDS each (needs clang); T=PATTERN: only such targets
	@command -v clang++ >/dev/null || { echo "clang is missing. Run: sh scripts/setup.sh --developer" >&2; exit 1; }
	@$(MAKE) --no-print-directory BUILD=fuzz CXX=clang++ OPENBLAS=0 OPENMP=0 fuzz-targets
	@sh scripts/fuzz.sh build/fuzz $(TIME) "$(T)"
fuzz-targets: $(FUZZERS) $(OUT)/seeds

install: $(PROGRAM) ## copy the program and the models below PREFIX
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/orrery/models'
	install -m 755 $(PROGRAM) '$(DESTDIR)$(PREFIX)/bin/orrery'
	@if [ -d models ]; then cp -R models/. '$(DESTDIR)$(PREFIX)/share/orrery/models/'; fi

uninstall: ## remove what install copied
	rm -f '$(DESTDIR)$(PREFIX)/bin/orrery'
	@if [ -d models ]; then (cd models && find . -type f) | while read -r file; do \
	  rm -f "$(DESTDIR)$(PREFIX)/share/orrery/models/$$file"; done; fi
	@rmdir '$(DESTDIR)$(PREFIX)/share/orrery/models' '$(DESTDIR)$(PREFIX)/share/orrery' 2>/dev/null || :

format: ## lay out all sources with clang-format
	@command -v clang-format >/dev/null || { \
	  echo "clang-format is missing. Run: sh scripts/setup.sh --developer" >&2; exit 1; }
	@find src tests lessons \( -name '*.cpp' -o -name '*.h' \) ! -name '.*' 2>/dev/null | xargs clang-format -i

reconfigure: ## ask again what this machine has
	@:

clean: ## remove all that make has made
	rm -rf build orrery
