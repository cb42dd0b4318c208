"""A model host on localhost for scripts/check/get-model.sh: Git LFS pointers, redirects, ranges, and what goes wrong.

    range_server.py FILE LOG    prints its port; FILE is what every repository holds, LOG gets a line for each request

The owner in the path says how the host behaves.
"""
import hashlib
import http.server
import sys

content = open(sys.argv[1], "rb").read()
log = open(sys.argv[2], "a", buffering=1)
cut_once = set()


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_GET(self):
        owner = self.path.split("/")[1]
        wanted = self.headers.get("Range", "-")
        log.write(f"{self.path} {wanted}\n")
        if owner == "gated":
            self.answer(401)
        elif owner == "absent":
            self.answer(404)
        elif owner == "broken":
            self.answer(500)
        elif "/raw/" in self.path and owner != "plain":
            self.answer(200, self.pointer(owner))
        elif "/resolve/" in self.path:
            self.answer(302, headers=[("Location", self.path.replace("/resolve/", "/files/"))])
        else:
            self.give(owner, wanted)

    def pointer(self, owner):
        digest = hashlib.sha256(content if owner != "other" else b"other").hexdigest()
        size = len(content) - (1 if owner == "longer" else 0)
        if owner == "odd":
            digest = "../../x"
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n".encode()

    def give(self, owner, wanted):
        begin = int(wanted[len("bytes="):-1]) if wanted.startswith("bytes=") and owner != "whole" else 0
        if begin >= len(content) and begin > 0:
            return self.answer(416, headers=[("Content-Range", f"bytes */{len(content)}")])
        body = content[begin:]
        length = len(body)
        if owner == "cut" and self.path not in cut_once:
            cut_once.add(self.path)
            body = body[: length // 2]
        headers = [("Accept-Ranges", "bytes")] if owner != "whole" else []
        if begin > 0:
            headers.append(("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}"))
        self.answer(206 if begin > 0 else 200, body, headers, length)


server = http.server.HTTPServer(("127.0.0.1", 0), Host)
print(server.server_address[1], flush=True)
server.serve_forever()
