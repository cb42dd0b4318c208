#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <cstddef>
#include <string>

#include <stb/stb_image_write.h>

#include "base/error.h"
#include "base/output_file.h"
#include "plot/canvas.h"

namespace orrery {

static_assert(sizeof(Colour) == 3, "stb reads red, green, blue, red, ...");

std::string png_bytes(const Canvas& canvas) {
  std::string bytes;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  const int done = stbi_write_png_to_func(append, &bytes, canvas.width(), canvas.height(), 3, canvas.pixels().data(),
                                          canvas.width() * 3);
  if (done == 0) throw Error({.what = "the picture could not be packed as PNG", .hint = "is there memory left?"});
  return bytes;
}

void write_png(const Canvas& canvas, const std::string& path) {
  const std::string bytes = png_bytes(canvas);
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace orrery
