# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus on loopback, for alerting rules."""

import http.client
import json
import pathlib
import shutil
import tempfile
import textwrap
import urllib.parse

from . import daemon, shell
from .daemon import Daemon

RULES = pathlib.Path(__file__).parents[2] / "deploy/monitoring/prometheus-rule.yaml"
_PATIENCE = 60    # Seconds for Prometheus to become ready on a busy machine.


def rules():
    """Returns the rules of the PrometheusRule in Prometheus' own format."""
    return textwrap.dedent(RULES.read_text(encoding="utf-8").partition("\nspec:\n")[2])


class Prometheus:
    """Scrapes one address and evaluates the rules each second; ready for use inside `with`."""

    def __init__(self, target, rules_text):
        self._target, self._rules = target, rules_text
        self.folder = None

    def __enter__(self):
        shell.need("prometheus")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pintle-prometheus-"))
        try:
            (self.folder / "rules.yaml").write_text(self._rules, encoding="utf-8")
            (self.folder / "prometheus.yaml").write_text(json.dumps({
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
                "rule_files": ["rules.yaml"],
                "scrape_configs": [{"job_name": "controller", "static_configs": [{"targets": [self._target]}]}],
            }), encoding="ascii")
            daemon.with_free_ports(1, "127.0.0.1", self._start)
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, *_):
        self._clean_up()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def query(self, path, **parameters):
        """Sends a query to Prometheus's API and returns the data of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        assert answer["status"] == "success", answer
        return answer["data"]

    def alerts(self):
        return self.query("alerts")["alerts"]

    def wait_for(self, condition, what):
        return self._server.wait_for(condition, what, _PATIENCE)

    def _start(self, ports):
        self._port = ports[0]
        self._server = Daemon(self.folder / "prometheus.log", "prometheus", "--web.listen-address",
                              f"127.0.0.1:{self._port}", "--config.file", self.folder / "prometheus.yaml",
                              "--storage.tsdb.path", self.folder / "data")
        self._server.start()
        self._server.wait_for(lambda: daemon.status_of(
            http.client.HTTPConnection("127.0.0.1", self._port), "/-/ready") == 200, "Prometheus is ready", _PATIENCE)

    def _clean_up(self):
        if self.folder is not None:
            self._server.stop()
            shutil.rmtree(self.folder)
            self.folder = None
