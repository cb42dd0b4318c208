"""Opens pages that `orrery trace --html` has written in a headless Chromium, uses them as a person would, and looks at
what they show. Speaks the DevTools protocol over two pipes; needs nothing beside Python.

    python3 page.py BROWSER check SHORT LONG CHINESE [FOLDER]   FOLDER: also keep a screenshot of each state
    python3 page.py BROWSER picture PAGE FILE.png
"""
import base64
import json
import os
import pathlib
import re
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

    def screenshot(self, path):
        """Of the whole page."""
        self.evaluate("scrollTo(0, 0)")
        width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))


class Checks:
    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.passed = 0
        self.failures = []

    def that(self, is_right, what, found=""):
        self.passed += bool(is_right)
        if not is_right:
            self.failures.append(f"{self.state}: {what}" + (f"; found {found}" if found != "" else ""))

    def open(self, path, width, scheme):
        name = pathlib.Path(path).stem
        self.state = f"{name}, {width} pixels, {scheme}"
        self.browser.open(path, width, 740 if width < 600 else 900, scheme, scale=2 if width < 600 else 1, phone=width < 600)
        if self.folder:
            self.browser.screenshot(os.path.join(self.folder, f"{name}-{width}-{scheme}.png"))

    def is_quiet(self):
        """Nothing went wrong, nothing was asked of the network, nothing hangs over the side, no word is missing."""
        b = self.browser
        self.that(not b.complaints, "no complaints on the console", b.complaints)
        outside = [url[:80] for url in b.requests if not url.startswith(("file:", "data:"))]
        self.that(not outside, "no requests", outside)
        self.that(b.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no horizontal scrolling",
                  b.evaluate("document.documentElement.scrollWidth"))
        text = b.evaluate("document.body.innerText")
        for hole in ("undefined", "NaN", "{0}", "[object"):
            self.that(hole not in text, "no '" + hole + "' in the text")

    def text_of(self, selector):
        return self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def picture_of_map(self):
        return self.browser.evaluate("document.getElementById('map').toDataURL()")


def weight(data, layer, head, query, key):
    """Of one head, from the numbers in the file."""
    roots = base64.b64decode(data["attention"][layer]["roots"])
    heads = data["model"]["heads"]
    return (roots[heads * query * (query + 1) // 2 + head * (query + 1) + key] / 255) ** 2


def check_heads(c, data):
    b = c.browser
    for layer, head in ((0, 0), (len(data["attention"]) - 1, data["model"]["heads"] - 1)):
        before, name = c.picture_of_map(), c.text_of("#head-name")
        b.click(f"#head-{layer}-{head}")
        c.that(c.picture_of_map() != before, "a click on a head changes the map")
        c.that(c.text_of("#head-name") != name, "and its name", name)
        c.that(b.evaluate("document.querySelectorAll('#heads [aria-selected=true]').length") == 1, "one head is selected")
    b.evaluate("document.getElementById('heads').focus()")
    b.key("ArrowUp")
    b.key("ArrowLeft")
    c.that(b.evaluate("[selection.layer, selection.head]") == [layer - 1, head - 1], "arrow keys choose a head")


def check_map(c, data):
    b = c.browser
    layer, head = b.evaluate("[selection.layer, selection.head]")
    last = data["computed"] - 1
    cell = b.evaluate("mapGeometry().cell")
    for query, key in ((last - 2, 2), (last - 1, last * 3 // 4), (last // 2, 3)):
        x, y = b.evaluate(f"(p => [(p.left + ({key} + 0.5) * p.cell) / p.width, (p.top + ({query} + 0.5) * p.cell) / p.height])(mapGeometry())")
        b.click("#map", x, y)
        found = c.text_of("#readout")
        named = [int(number) for number in re.findall(r"\((\d+)\)", found)]
        far = max(abs(named[0] - query), abs(named[-1] - key)) * cell
        c.that(len(named) == 2 and far <= max(1.5, cell / 2), f"the map names query {query} and key {key}", found)
        query, key = named  # where a cell is smaller than a pixel, a neighbour
        shown = float(found.split()[-1].rstrip("%").lstrip("<"))
        expected = 100 * weight(data, layer, head, query, key)
        c.that(abs(shown - expected) <= max(0.011, 0.06 * expected), f"and its weight, {expected:.3f} %", found)
        c.that(b.evaluate("selection.position") == query, "a click on the map selects the query")
    b.evaluate("document.getElementById('map').focus()")
    before = c.text_of("#readout")
    b.key("ArrowRight")
    c.that(c.text_of("#readout") != before, "arrow keys move over the map", before)


def check_choice(c, data):
    b = c.browser
    for step in data["steps"][:: max(1, len(data["steps"]) // 5)]:
        position = step["position"] - 1
        b.click(f"#token-{position}")
        c.that(b.evaluate("selection.position") == position, "a click on a token selects it")
        drawn = b.evaluate("[...document.querySelectorAll('#candidates tr.drawn th')].map(each => each.title)")
        name = b.evaluate(f"piece({step['tokens'][step['drawn']]})")
        c.that(drawn == [name], f"the one that was drawn is marked, {name}", drawn)
        columns = b.evaluate("document.querySelectorAll('#candidates thead th').length")
        c.that(columns == 1 + len(step["stages"]), "a column for each step of the sampler", columns)
        mark, part = b.evaluate(
            "['.mark', '.part.drawn'].map(each => document.querySelector('#draw ' + each).getBoundingClientRect()).map(r => [r.left, r.right])")
        c.that(part[0] - 1.5 <= (mark[0] + mark[1]) / 2 <= part[1] + 1.5, "the random number lies on the token drawn", (mark, part))
    b.click("#token-1")
    c.that(b.evaluate("document.querySelector('#draw').textContent") == "", "inside the prompt nothing is drawn")
    b.evaluate("document.getElementById('text').focus()")
    b.key("ArrowRight")
    c.that(b.evaluate("selection.position") == 2, "an arrow key goes to the next token")
    b.key("End")
    c.that(b.evaluate("selection.position") == data["computed"] - 1, "End goes to the last one")


def check_lens(c, data):
    b = c.browser
    b.click("#token-2")
    b.click("#lens-0-3")
    c.that(b.evaluate("[selection.depth, selection.position]") == [0, 3], "a click on the lens selects depth and token")
    shown = b.evaluate("document.querySelector('#guesses .name').textContent")
    c.that(shown == b.evaluate(f"piece({data['lens'][0][3][0]})"), "and shows what was likeliest there", shown)
    rows = b.evaluate("document.querySelectorAll('#norms tr').length")
    c.that(rows == data["model"]["layers"] + 1, "a line of lengths for each layer", rows)


def check_walk(c):
    b = c.browser
    b.click("#token-1")
    b.click("#play")
    deadline = time.monotonic() + 10
    while b.evaluate("selection.position") < 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    b.click("#play")
    stopped = b.evaluate("selection.position")
    c.that(stopped >= 3, "the walk goes on by itself", stopped)
    time.sleep(1)
    c.that(b.evaluate("selection.position") == stopped, "and stops when asked")


def check_colours(c):
    """A change of light while the page is open."""
    b = c.browser
    light = c.picture_of_map()
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    b.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    c.that(c.picture_of_map() != light, "the map follows a change to dark")
    ground = b.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    c.that(sum(ground) < 150, "in the dark the ground is dark", ground)


def check(browser, short, long, chinese, folder=None):
    c = Checks(browser, folder)
    for page in (short, long, chinese):
        for width in (360, 800, 1400):
            for scheme in ("light", "dark"):
                c.open(page, width, scheme)
                c.is_quiet()
    for page, width in ((short, 1400), (short, 360), (long, 800)):
        c.open(page, width, "light")
        data = browser.evaluate("run")
        check_heads(c, data)
        check_map(c, data)
        check_choice(c, data)
        check_lens(c, data)
        check_walk(c)
        check_colours(c)
        c.is_quiet()
    c.that(browser.evaluate("run.computed") >= 300, "the long run is long", browser.evaluate("run.computed"))
    c.that(os.path.getsize(long) < 5 << 20, "and its page is small", os.path.getsize(long))
    c.open(chinese, 1400, "light")
    c.that(browser.evaluate("document.documentElement.lang") == "zh", "the Chinese page is marked as such")
    c.that(c.text_of("#lens-title") == "每一层会说什么", "and speaks Chinese", c.text_of("#lens-title"))

    # The check checks itself: a page with a mistake in its script, and one that asks for something, are found out.
    text = pathlib.Path(short).read_text()
    for name, right, wrong in (("mistake", "function showHeads()", "function showHats()"),
                               ("asks", "<main>", '<img src="https://example.org/x.png" alt=""><main>')):
        damaged = pathlib.Path(short).with_name(name + ".html")
        damaged.write_text(text.replace(right, wrong, 1))
        found = Checks(browser, None)
        found.open(str(damaged), 800, "light")
        found.is_quiet()
        c.that(found.failures, f"a page with a fault ({name}) is found out")
    for failure in c.failures:
        print(failure)
    print(f"{c.passed} of {c.passed + len(c.failures)} passed")
    return not c.failures


def picture(browser, page, path):
    browser.open(page, 1400, 900, "light")
    browser.screenshot(path)
    return True


def main():
    program, what, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            return {"check": check, "picture": picture}[what](browser, *arguments)
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
