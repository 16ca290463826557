# SPDX-License-Identifier: Apache-2.0
"""Looks at the page of pintle-controller in a real browser, while the nodes of a real API server change."""

import contextlib
import http.client
import os
import pathlib
import shutil
import ssl
import urllib.error
import urllib.request

import pytest

from machines import certs, grants
from machines.browser import Browser
from machines.cluster import Cluster
from machines.controller import DEPLOY, MERGE, Controller, Objects, account, prepare_cluster
from machines.daemon import free_ports
from machines.loopback_server import Handler, LoopbackServer
from machines.simulated_agents import PREFIX, SimulatedAgents
from machines.wait import wait_until

TAB = "\ue004"
SIZES = {"phone": (360, 640), "tablet": (820, 1180), "desk": (1440, 900)}

# Returns what is wrong with the page for people who cannot see it, or who use no pointer.
ACCESSIBILITY = """
const wrong = [];
if (!document.documentElement.lang) wrong.push("the page has no language");
if (document.querySelectorAll("h1").length !== 1) wrong.push("the page has not exactly one h1");
let level = 1;
for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) wrong.push("a heading skips a level: " + heading.textContent);
  level = own;
}
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
if (new Set(ids).size !== ids.length) wrong.push("an ID stands twice");
for (const element of document.querySelectorAll("[aria-labelledby]")) {
  if (!document.getElementById(element.getAttribute("aria-labelledby"))) wrong.push("a label is missing: " + element.id);
}
for (const link of document.querySelectorAll("a, button, input")) {
  if (!link.textContent.trim() && !link.getAttribute("aria-label")) wrong.push("a link has no text: " + link.outerHTML);
}
for (const cell of document.querySelectorAll("th")) {
  if (!cell.scope) wrong.push("a heading of a table has no scope: " + cell.textContent);
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) {
  wrong.push("the page is wider than the screen: " + document.documentElement.scrollWidth);
}
return wrong;
"""

# Returns the texts whose contrast with their background is below 4.5 to 1, as the browser has computed their colours.
CONTRAST = """
const luminance = (colour) => {
  const parts = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map((part) => part / 255);
  const linear = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const isClear = (colour) => /rgba\\(.*, 0\\)/.test(colour) || colour === "transparent";
const backgroundOf = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!isClear(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
const weak = [];
for (const element of document.querySelectorAll("body *")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!hasText || element.closest(".unseen")) continue;
  const [dark, light] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance).sort((a, b) => a - b);
  const contrast = (light + 0.05) / (dark + 0.05);
  if (contrast < 4.5) weak.push(element.className + " " + element.textContent.slice(0, 40) + ": " + contrast);
}
return weak;
"""


class Page:
    """The page of a controller."""

    def __init__(self, port):
        self.port = port
        self.url = f"http://localhost:{port}/"

    def get(self, path="", host="localhost"):
        """Returns the status and the text."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", headers={"Host": host})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as running:
        prepare_cluster(running)
        yield running


@pytest.fixture(scope="module")
def browser():
    with Browser() as running:
        yield running


@pytest.fixture
def objects(cluster):
    made = Objects(cluster)
    made.controller_config()
    for role in ("master", "worker"):
        made.config(f"00-{role}", role=role, files={"/etc/base": "1"})
    yield made
    made.delete_all()


@pytest.fixture
def agents(cluster):
    with SimulatedAgents(cluster, drains=True) as running:
        yield running


@pytest.fixture
def page(cluster, objects):
    (port,) = free_ports(1)
    with Controller(cluster, "controller", f"--page=127.0.0.1:{port}"):
        wait_until(objects.leader, "the controller leads", 60)
        yield Page(port)


def text_of(browser, element):
    return browser.run("return document.getElementById(arguments[0])?.textContent ?? ''", element)


def wait_for_text(browser, element, text):
    wait_until(lambda: text in text_of(browser, element), f"{element} has the text {text}", 60)


def add_workers(objects, agents, count):
    target = objects.wait_for_target("worker")
    for number in range(count):
        agents.add(f"worker-{number}", target)
    objects.wait_until_updated("worker")
    return target


def test_the_page_follows_a_rollout_and_reports_failures(page, objects, agents, browser):
    add_workers(objects, agents, 3)
    browser.open(page.url)
    wait_for_text(browser, "summary", "2 pools with 3 nodes: 3 done.")
    assert "Nothing needs attention." in text_of(browser, "attention")

    agents.hold()
    objects.config("50-bad", files={"/etc/bad": "1"})
    bad = objects.wait_for_target("worker", other_than=objects.target("worker"))
    wait_until(lambda: "updating" in text_of(browser, "summary"), "the page shows a node that is updating", 60)
    wait_for_text(browser, "pool-worker", bad)
    agents.broken.add(bad)
    agents.go_on()
    wait_for_text(browser, "attention", f"is degraded: {bad} cannot be applied")

    objects.remove_config("50-bad")
    wait_for_text(browser, "summary", "2 pools with 3 nodes: 3 done.")
    wait_for_text(browser, "attention", "Nothing needs attention.")
    assert browser.run("return performance.getEntriesByType('navigation').length") == 1
    assert browser.problems() == []


def test_the_details_of_a_node_follow_the_node(page, objects, agents, browser):
    old = add_workers(objects, agents, 1)
    browser.open(page.url + "?node=worker-0")
    wait_for_text(browser, "details", "done")
    agents.hold()
    objects.config("50-next", files={"/etc/next": "1"})
    next_config = objects.wait_for_target("worker", other_than=old)
    wait_for_text(browser, "details", next_config)
    reason = {"metadata": {"annotations": {PREFIX + "state": "Degraded", PREFIX + "reason": "first reason"}}}
    objects.admin.must("PATCH", "/api/v1/nodes/worker-0", reason, MERGE)
    wait_for_text(browser, "details", "first reason")
    reason["metadata"]["annotations"][PREFIX + "reason"] = "second reason"
    objects.admin.must("PATCH", "/api/v1/nodes/worker-0", reason, MERGE)
    wait_for_text(browser, "details", "second reason")
    assert browser.run("return performance.getEntriesByType('navigation').length") == 1
    assert browser.problems() == []


def test_the_page_shows_a_rollout_by_its_waves(page, objects, agents, browser):
    add_workers(objects, agents, 3)
    policies = "/apis/pintle.io/v1alpha1/rolloutpolicies"
    objects.admin.must("POST", policies, {
        "apiVersion": "pintle.io/v1alpha1", "kind": "RolloutPolicy", "metadata": {"name": "workers"},
        "spec": {"pool": "worker", "approve": "Manual", "waves": [{"name": "canary", "nodes": 1}]}})
    try:
        browser.open(page.url)
        wait_for_text(browser, "pool-worker", "the rollout by workers is complete")
        objects.config("50-waved", files={"/etc/waved": "1"})
        wait_for_text(browser, "pool-worker", "Wave 2 of 2, 1 of 3 nodes: the rollout by workers waits for an approval")
        wait_for_text(browser, "pool-worker", "canary: done")
        wait_for_text(browser, "attention", "kubectl pintle approve worker")
        for width, height in SIZES.values():
            browser.resize(width, height)
            assert browser.run(ACCESSIBILITY) == []
            assert browser.run(CONTRAST) == []
        assert browser.problems() == []
    finally:
        objects.admin.must("DELETE", policies)


def test_a_new_node_and_a_new_pool_come_to_the_page(page, objects, agents, browser):
    add_workers(objects, agents, 1)
    browser.open(page.url)
    wait_for_text(browser, "summary", "2 pools with 1 node: 1 done.")
    agents.add("worker-new", objects.target("worker"))
    wait_for_text(browser, "node-worker-new", "done")
    objects.custom_pool("infra", paused=True)
    wait_for_text(browser, "pool-infra", "paused")
    assert browser.problems() == []


def test_the_page_comes_back_with_a_restarted_controller(cluster, objects, browser):
    (port,) = free_ports(1)
    with Controller(cluster, "first", f"--page=127.0.0.1:{port}"):
        objects.wait_for_target("worker")
        browser.open(f"http://localhost:{port}/")
        wait_for_text(browser, "summary", "2 pools with 0 nodes.")
    wait_for_text(browser, "connection", "The connection is lost")
    with Controller(cluster, "second", f"--page=127.0.0.1:{port}"):
        objects.custom_pool("infra")
        wait_for_text(browser, "summary", "3 pools with 0 nodes.")
        assert text_of(browser, "connection") == ""


def test_the_page_works_without_script(page, objects, agents):
    add_workers(objects, agents, 2)
    wait_until(lambda: "2 pools with 2 nodes: 2 done." in page.get()[1], "the page counts the nodes", 60)
    status, details = page.get("?node=worker-1")
    assert status == 200 and "<dt>pool</dt><dd>worker</dd>" in details
    assert page.get("nothing")[0] == 404


def test_a_website_cannot_read_the_page_by_a_name_of_its_own(page):
    assert page.get(host="evil.example")[0] == 421
    assert page.get("events", host="evil.example:80")[0] == 421


def test_hostile_texts_of_a_node_are_shown_as_text(page, objects, agents, browser):
    add_workers(objects, agents, 1)
    agents.hold()
    hostile = "<img src=x onerror=\"document.title='broken'\">\u202e" + "x" * (64 << 10)
    objects.admin.must("PATCH", "/api/v1/nodes/worker-0", {
        "metadata": {"annotations": {PREFIX + "state": "Degraded", PREFIX + "reason": hostile}}}, MERGE)
    browser.open(page.url)
    wait_for_text(browser, "attention", "<img src=x onerror=")
    browser.open(page.url + "?node=worker-0")
    wait_for_text(browser, "details", "x" * 60_000)
    assert browser.run("return document.title") == "Pintle"
    assert browser.run("return document.images.length") == 0
    assert "\u202e" not in browser.run("return document.body.textContent")
    assert browser.problems() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_people_can_read_the_page_on_each_screen(page, objects, agents, browser, scheme):
    add_workers(objects, agents, 3)
    agents.hold()
    states = {"worker-0": "Degraded", "worker-1": "Rebooting", "worker-2": "Working"}
    for name, state in states.items():
        objects.admin.must("PATCH", f"/api/v1/nodes/{name}", {
            "metadata": {"annotations": {PREFIX + "state": state, PREFIX + "reason": "for the test"}}}, MERGE)
    browser.prefer(scheme)
    browser.open(page.url + "?node=worker-0")
    wait_for_text(browser, "summary", "1 updating, 1 rebooting, 1 degraded")
    folder = pathlib.Path(os.environ["PINTLE_BUILD"]) / "screenshots"
    folder.mkdir(exist_ok=True)
    for name, (width, height) in SIZES.items():
        browser.resize(width, height)
        assert browser.run(ACCESSIBILITY) == [], name
        assert browser.run(CONTRAST) == [], name
        browser.screenshot(folder / f"{name}-{scheme}.png")


def test_the_keyboard_reaches_all_nodes_and_keeps_its_place(page, objects, agents, browser):
    add_workers(objects, agents, 2)
    browser.open(page.url)
    wait_for_text(browser, "node-worker-1", "done")
    focused = "return document.activeElement.closest('[id]')?.id ?? ''"
    seen = []
    while "node-worker-1" not in seen and len(seen) < 20:
        browser.press(TAB)
        seen.append(browser.run(focused))
    assert seen[-2:] == ["node-worker-0", "node-worker-1"], seen
    agents.hold()
    objects.admin.must("PATCH", "/api/v1/nodes/worker-1", {
        "metadata": {"annotations": {PREFIX + "state": "Degraded", PREFIX + "reason": "for the test"}}}, MERGE)
    wait_until(lambda: browser.run("return document.getElementById('timeline').textContent.includes('worker-1: degraded')"),
               "the page shows the change", 60)
    assert browser.run(focused) == "node-worker-1"


# ---- the page for those who have a token ----------------------------------------------------------------------------

PATHS = ("", "?node=worker-0", "style.css", "script.js", "icon.svg", "events", "nothing")
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
# The page remembers the review of a token for a minute, and the API server remembers tokens for some seconds.
REVIEW_COUNTS_FOR = 90


class GuardedPage:
    """The page over TLS, which needs a token."""

    def __init__(self, controller, port, authority):
        self.controller, self.port, self.authority = controller, port, authority
        self.context = ssl.create_default_context(cafile=authority.certificate)

    def connection(self):
        return contextlib.closing(http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context))

    def get(self, path="", token=None, method="GET", **headers):
        """Returns the status, the headers and the body."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        with self.connection() as connection:
            connection.request(method, "/" + path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def status(self, token):
        return self.get(token=token)[0]

    @contextlib.contextmanager
    def stream(self, token):
        with self.connection() as connection:
            connection.request("GET", "/events?from=none-0", headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
            assert answer.readline() == b"retry: 2000\n"
            yield answer

    def certificate(self):
        with self.connection() as connection:
            connection.connect()
            return connection.sock.getpeercert(binary_form=True)


class Visitors:
    """ServiceAccounts, and their tokens."""

    def __init__(self, cluster):
        self.admin, self.names, self.tokens = cluster.admin, [], []

    def account(self, name, may_read=True):
        """Creates an account, and returns a token of it."""
        self.names.append(name)
        self.admin.must("POST", ACCOUNTS, {"metadata": {"name": name}})
        if may_read:
            self.admin.must("POST", BINDINGS, {
                "metadata": {"name": name}, "subjects": [
                    {"kind": "ServiceAccount", "name": name, "namespace": "default"}],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "pintle-page-reader"}})
            grants.wait_until_known(self.admin)
        return self.token(name)

    def token(self, name, **spec):
        answer = self.admin.must("POST", f"{ACCOUNTS}/{name}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        self.tokens.append(answer["status"]["token"])
        return self.tokens[-1]

    def remove(self, name):
        self.admin.must("DELETE", f"{ACCOUNTS}/{name}")

    def forbid(self, name):
        self.admin.must("DELETE", f"{BINDINGS}/{name}")

    def remove_all(self):
        for name in self.names:
            self.admin.request("DELETE", f"{ACCOUNTS}/{name}")
            self.admin.request("DELETE", f"{BINDINGS}/{name}")


@pytest.fixture(scope="module")
def page_rights(cluster):
    """Gives the controller the rights of deploy/page."""
    account(cluster)
    cluster.admin.apply_files(DEPLOY / "page/base/rbac.yaml")
    grants.wait_until_known(cluster.admin)


@pytest.fixture
def visitors(cluster):
    made = Visitors(cluster)
    yield made
    made.remove_all()


@contextlib.contextmanager
def serve_guarded(cluster, objects, folder):
    authority = certs.Authority(folder / "authority")
    pair = authority.server("page", ["127.0.0.1"])
    (port,) = free_ports(1)
    with Controller(cluster, "guarded", f"--page-listen=0.0.0.0:{port}", f"--page-cert={pair.certificate}",
                    f"--page-key={pair.key}") as controller:
        wait_until(objects.leader, "the controller leads", 60)
        yield GuardedPage(controller, port, authority)


@pytest.fixture
def guarded(cluster, objects, page_rights, visitors, tmp_path):
    with serve_guarded(cluster, objects, tmp_path) as page:
        yield page
        log = page.controller.log_text()
        for token in visitors.tokens:
            assert token not in log and token.split(".")[-1] not in log


def assert_nothing_is_given(page, status, token=None, **headers):
    for path in PATHS:
        for method in ("GET", "HEAD", "POST"):
            found, received, body = page.get(path, token, method, **headers)
            assert (found, body) == (status, b""), (path, method)
            assert ("WWW-Authenticate" in received) == (status == 401)
            assert received["Content-Type"] is None and received["Content-Length"] == "0"


def test_the_page_gives_nothing_without_a_token_that_the_cluster_accepts(guarded, visitors):
    token = visitors.account("reader")
    assert_nothing_is_given(guarded, 401)
    assert_nothing_is_given(guarded, 401, Authorization="Basic cmVhZGVyOng=")
    assert_nothing_is_given(guarded, 401, "garbage")
    assert_nothing_is_given(guarded, 401, token[:-4] + "AAAA")
    assert_nothing_is_given(guarded, 401, visitors.token("reader", audiences=["https://elsewhere.example"]))
    assert guarded.get(token=token)[1]["WWW-Authenticate"] is None


def test_the_page_gives_nothing_without_the_right(guarded, visitors):
    assert_nothing_is_given(guarded, 403, visitors.account("stranger", may_read=False))


def test_who_has_the_right_gets_the_page_by_any_host_name(guarded, visitors):
    token = visitors.account("reader")
    wait_until(lambda: b"2 pools with 0 nodes." in guarded.get(token=token)[2], "the page has been made", 60)
    for path in PATHS[:5]:
        status, _, body = guarded.get(path, token, Host="pintle.example")
        assert status == 200 and body, path
    assert guarded.get("nothing", token)[0] == 404
    assert guarded.get("", token, "POST")[0] == 405


def test_a_stream_ends_with_the_account_of_its_token(guarded, visitors):
    leaver, stayer = visitors.account("leaver"), visitors.account("stayer")
    with guarded.stream(leaver) as leaving, guarded.stream(stayer) as staying:
        visitors.remove("leaver")
        wait_until(lambda: leaving.readline() == b"", "the stream has ended", REVIEW_COUNTS_FOR)
        assert guarded.status(leaver) == 401
        wait_until(lambda: b"nothing has changed" in staying.readline(), "the other stream goes on", REVIEW_COUNTS_FOR)
    assert guarded.status(stayer) == 200


def test_a_stream_ends_with_the_right_to_read(guarded, visitors):
    token = visitors.account("reader")
    with guarded.stream(token) as stream:
        visitors.forbid("reader")
        wait_until(lambda: stream.readline() == b"", "the stream has ended", REVIEW_COUNTS_FOR)
    assert_nothing_is_given(guarded, 403, token)


def test_nothing_is_given_while_the_api_server_is_down(cluster, guarded, visitors):
    token = visitors.account("reader")
    cluster.stop_apiserver()
    try:
        status, headers, body = guarded.get(token=token)
        assert (status, body) == (503, b"") and int(headers["Retry-After"]) > 0
        assert_nothing_is_given(guarded, 401)
    finally:
        cluster.start_apiserver()
    wait_until(lambda: guarded.status(token) == 200, "the page is there again", 60)


def test_the_log_names_the_role_that_the_controller_lacks(cluster, guarded, visitors):
    token = visitors.account("reader")
    cluster.admin.must("DELETE", f"{BINDINGS}/pintle-controller-page")
    grants.wait_until_known(cluster.admin)
    try:
        with cluster.refusals.expected(account(cluster), "create tokenreviews"):
            assert guarded.status(token) == 503
        wait_until(lambda: "system:auth-delegator" in guarded.controller.log_text(), "the log names the role", 30)
    finally:
        cluster.admin.apply_files(DEPLOY / "page/base/rbac.yaml")
        grants.wait_until_known(cluster.admin)
    wait_until(lambda: guarded.status(token) == 200, "the page is there again", 30)


def test_new_connections_get_a_renewed_certificate(guarded):
    before = guarded.certificate()
    renewed = guarded.authority.server("renewed", ["127.0.0.1"])
    shutil.copy(renewed.key, guarded.authority.folder / "page.key")
    shutil.copy(renewed.certificate, guarded.authority.folder / "page.crt")
    wait_until(lambda: guarded.certificate() != before, "the page has the new certificate", 60)


class AuthenticatingProxy(LoopbackServer):
    """A proxy that has authenticated its user, and adds the user's token to each request."""

    def __init__(self, page, token):
        super().__init__(ProxyHandler)
        self.page, self.token = page, token
        self.url = f"http://localhost:{self.server_port}/"


class ProxyHandler(Handler):
    def do_GET(self):
        page = self.server.page
        passed = {name: self.headers[name] for name in ("Host", "Last-Event-ID") if name in self.headers}
        with contextlib.suppress(OSError), page.connection() as connection:
            connection.request("GET", self.path, headers=passed | {"Authorization": f"Bearer {self.server.token}"})
            answer = connection.getresponse()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name not in ("Connection", "Date"):
                    self.send_header(name, value)
            self.end_headers()
            while piece := answer.read1():
                self.wfile.write(piece)
                self.wfile.flush()


def test_a_browser_follows_the_page_through_an_authenticating_proxy(guarded, visitors, objects, browser):
    with AuthenticatingProxy(guarded, visitors.account("reader")) as proxy:
        browser.open(proxy.url)
        wait_for_text(browser, "summary", "2 pools with 0 nodes.")
        objects.custom_pool("infra", paused=True)
        wait_for_text(browser, "pool-infra", "paused")
        assert browser.run("return performance.getEntriesByType('navigation').length") == 1
        assert browser.problems() == []
