#!/bin/sh
# scripts/lessons.sh checks the lessons' documents; this checks scripts/lessons.sh: a lesson in order passes, and each
# fault that is planted in it is found where it is.
set -u
temporary=$(mktemp -d) || exit 1
trap 'rm -rf "$temporary"' EXIT
house=$temporary/house
lesson=$house/lessons/01-first
mkdir -p "$house/scripts" "$lesson"
cp -R scripts/lessons.sh scripts/lessons "$house/scripts"
cd "$house" || exit 1

write_lesson() {
  touch "$lesson/main.cpp" "$lesson/figure.png"
  cat >"$lesson/README.md" <<'END'
# 1. First

Reading: 2 minutes · Running: under 2 seconds

## The idea

$$
a = b
$$

## Run it

```console
$ printf '%s\n' "1,024 parts, 0.25 each" \
    "in ~3.71 s"
1,024 parts, 0.25 each
in ~3.71 s
$ true
$ echo last
last
```

## What to look at

![A picture](figure.png)

## Step through it
## Check the source

| claim | number |
|---|---|
| one | 1 |

## Try
## Next

[This one](README.md)
END
  sed -e 's/^# .*/# 1. 一/; s/^Reading:.*/阅读：2 分钟 · 运行：不到 2 秒/; s/^## The idea/## 思路/; s/^## Run it/## 运行/
    s/^## What to look at/## 看什么/; s/^## Step through it/## 单步跟踪/; s/^## Check the source/## 核对原文/
    s/^## Try/## 试一试/; s/^## Next/## 下一课/; s/README.md/README.zh.md/' "$lesson/README.md" >"$lesson/README.zh.md"
}

# both SED: the same change to both documents.
both() { sed -i.old "$1" "$lesson/README.md" "$lesson/README.zh.md"; }
# finds WORDS: the check must fail now and say so; then the lesson is put in order again.
planted=0
finds() {
  planted=$((planted + 1))
  if output=$(sh scripts/lessons.sh check 2>&1) || ! echo "$output" | grep -qF -- "$1"; then
    echo "scripts/lessons.sh did not say '$1' but: $output"
    exit 1
  fi
  write_lesson
}

write_lesson
output=$(sh scripts/lessons.sh check) || { echo "a lesson in order fails: $output"; exit 1; }
both 's/^in ~3.71 s/in  ~99 s/; s/^\(1,024 .*\) 0.25/\1 0.26/'
output=$(sh scripts/lessons.sh check) || { echo "measured numbers and last digits must not matter: $output"; exit 1; }
write_lesson

both 's/^1,024/1,025/' && finds 'README.md:16: the document says:'
both 's/^\(1,024 .*\) 0.25/\1 0.27/' && finds '0.27 each'
both 's/^in ~3.71/in 3.71/' && finds 'in 3.71 s'
both 's/^last/lost/' && finds 'README.md:20: the document says:'
both 's/^last/&\nmore/' && finds '(nothing more)'
both 's/true/false/' && finds '[exit status 1]'
both 's/true/sleep 3/; s/under 2 seconds/under 1 seconds/; s/不到 2 秒/不到 1 秒/' && finds 's, the document says under 1'
sed -i.old 's/echo last/echo  last/' "$lesson/README.zh.md" && finds 'README.zh.md:19: has "$ echo  last"'
sed -i.old 's/^## 试一试/### 试一试/' "$lesson/README.zh.md" && finds 'README.zh.md: its sections shall be'
sed -i.old '/^| one/d' "$lesson/README.zh.md" && finds 'README.zh.md:3'
sed -i.old '/^!/d' "$lesson/README.md" && finds 'link figure.png'
sed -i.old 's/2 秒/3 秒/' "$lesson/README.zh.md" && finds 'give different times'
both 's/(README[a-z.]*)/(nowhere.md)/' && finds 'there is no nowhere.md'
rm "$lesson/figure.png" && finds 'figure.png is missing'

# An exercise beside it is treated the same, except for its sections.
write_exercise() {
  grep -v -e '^## Step' -e '^## Try' "$lesson/README.md" >"$lesson/exercise.md"
  grep -v -e '^## 单步' -e '^## 试' "$lesson/README.zh.md" >"$lesson/exercise.zh.md"
}
write_exercise
output=$(sh scripts/lessons.sh check) || { echo "an exercise in order fails: $output"; exit 1; }
sed -i.old 's/^last/lost/' "$lesson/exercise.md" && finds 'exercise.md:20: the document says:'
write_exercise
sed -i.old 's/^## 看什么/### 看什么/' "$lesson/exercise.zh.md" && finds 'exercise.zh.md:'
write_exercise
rm "$lesson/exercise.zh.md" && finds 'exercise.zh.md is missing'
write_exercise

both 's/^in ~3.71 s/in ~1 s/; s/^last/lost/'
sh scripts/lessons.sh update >/dev/null && sh scripts/lessons.sh check >/dev/null || { echo "update did not mend"; exit 1; }
echo "all $planted planted faults found"
