# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a window, driven by its own driver over WebDriver."""

import base64
import contextlib
import json
import pathlib
import tempfile
import urllib.error
import urllib.request

from .daemon import Daemon, free_ports
from .wait import wait_until


class Browser(contextlib.AbstractContextManager):
    """A browser with one page; it runs inside `with`."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="pintle-browser-")
        (self._port,) = free_ports(1)
        self._driver = Daemon(pathlib.Path(self._folder.name) / "driver.log", "chromedriver", f"--port={self._port}")
        self._session = ""

    def __enter__(self):
        self._driver.start()
        wait_until(self._is_ready, "the browser's driver is ready", 60)
        # The sandbox does not run as root, and /dev/shm may be small.
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                     f"--user-data-dir={self._folder.name}/profile"]
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments, "binary": "/usr/bin/chromium"}}}})
        self._session = f"/session/{answer['sessionId']}"
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._call("DELETE", self._session)
        self._driver.stop()
        self._folder.cleanup()

    def open(self, url):
        # After this the previous page logs no more messages, so all its messages can be discarded.
        self._go_to("about:blank")
        self.problems()
        self._go_to(url)

    def run(self, script, *arguments):
        """Runs the body of a function in the page, and returns its value."""
        return self._call("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height):
        """Makes the page itself this large, as a screen would."""
        self._command("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})

    def prefer(self, scheme):
        """Makes the page dark or light."""
        self._command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def press(self, key):
        """Presses a key, such as "\\ue004", which is the tab in WebDriver."""
        self._call("POST", f"{self._session}/actions", {"actions": [{
            "type": "key", "id": "keyboard", "actions": [{"type": "keyDown", "value": key},
                                                         {"type": "keyUp", "value": key}]}]})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._call("GET", f"{self._session}/screenshot")))

    def problems(self):
        """Returns the messages that the browser itself has logged since the last call: refused files, script errors."""
        log = self._call("POST", f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("WARNING", "SEVERE")]

    def _go_to(self, url):
        self._call("POST", f"{self._session}/url", {"url": url})

    def _command(self, command, parameters):
        self._call("POST", f"{self._session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _is_ready(self):
        with contextlib.suppress(OSError):
            return self._call("GET", "/status")["ready"]
        return False

    def _call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{method} {path}: {refused.read().decode(errors='replace')[:1000]}") from None
