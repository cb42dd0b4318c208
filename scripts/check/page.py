"""Opens pages that `orrery trace --html` has written in a headless Chromium, uses them as a person would, and looks at
what they show. Speaks the DevTools protocol over two pipes; needs nothing beside Python.

    python3 page.py BROWSER check SHORT LONG CHINESE [FOLDER]   FOLDER: also keep a screenshot of each state
    python3 page.py BROWSER picture PAGE FILE.png
"""
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

DEADLINE = 60  # seconds that the browser may take for any one answer


class Browser:
    """A browser with one page, and all that it complains about."""

    def __init__(self, program, profile):
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()

        def place():  # the browser reads file 3 and writes file 4; dup2 onto itself would leave it closed on exec
            high_in, high_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + profile, "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread = b""
        self.count = 0
        self.session = None
        self.complaints, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()

    def message(self):
        end = time.monotonic() + DEADLINE
        while b"\0" not in self.unread:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.back, 1 << 20)
            if not part:
                raise EOFError("the browser has gone")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(each.get("value")) for each in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.note(answer)

    def open(self, path, width, height, scheme, scale=1, phone=False):
        self.complaints, self.requests, self.loaded = [], [], False
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not self.loaded:
            self.note(self.message())
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def click(self, selector, x=0.5, y=0.5):
        """With a mouse, at this share of the element's width and height."""
        quoted = json.dumps(selector)
        self.evaluate(f"document.querySelector({quoted}).scrollIntoView({{block: 'center', inline: 'center'}})")
        box = self.evaluate(f"(b => [b.x, b.y, b.width, b.height])(document.querySelector({quoted}).getBoundingClientRect())")
        at = {"x": box[0] + x * box[2], "y": box[1] + y * box[3]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **at)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def screenshot(self, path, whole=True):
        height = self.evaluate("document.documentElement.scrollHeight") if whole else 0
        clip = {"clip": {"x": 0, "y": 0, "width": self.evaluate("innerWidth"), "height": height, "scale": 1}} if whole else {}
        self.evaluate("scrollTo(0, 0)")
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))
