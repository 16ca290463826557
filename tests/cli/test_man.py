# SPDX-License-Identifier: Apache-2.0
"""The manual pages describe each verb and each setting, and man(1) finds no mistakes in them."""

import pathlib
import re
import shutil
import subprocess

import pytest
from program import PINTLE, pintle

SOURCE = pathlib.Path(__file__).parents[2]
# The pages about programs; the others are about files.
PROGRAMS = ["kubectl-pintle.1", "machine-config-daemon.8", "pintle.1", "pintle-controller.8", "pintled.service.8"]
PAGES = sorted((SOURCE / "man").glob("*.[1-8]"))


def text_of(page):
    return (SOURCE / "man" / page).read_text().replace("\\-", "-")


def test_each_verb_is_in_the_manual():
    verbs = [line.split()[0] for line in pintle("help").stdout.splitlines() if line.startswith("  ")]
    heads = [line for line in text_of("pintle.1").splitlines() if line.startswith((".B ", ".BI ", ".BR "))]
    assert [verb for verb in verbs if not any(re.search(rf"\b{verb}\b", head) for head in heads)] == []


@pytest.mark.parametrize("name,page", [("kubectl-pintle", "kubectl-pintle.1"),
                                       ("machine-config-daemon", "machine-config-daemon.8")])
def test_each_verb_and_option_of_another_name_is_in_its_page(name, page, tmp_path):
    (tmp_path / name).symlink_to(PINTLE.absolute())

    def names(*words):
        help_text = subprocess.run([tmp_path / name, *words], capture_output=True, text=True, check=True).stdout
        return re.findall(r"(?m)^  ([a-z-]+) ", help_text)
    verbs = names("help")
    described = text_of(page)
    options = {option for verb in verbs if verb != "version" for option in names(verb, "--help")}
    assert len(verbs) >= 3 and len(options) >= 5
    assert [word for word in [*verbs, *options] if not re.search(rf"(?<![\w-]){word}(?![\w-])", described)] == []


def test_the_page_for_people_who_know_the_operator_names_existing_verbs():
    page = (SOURCE / "docs/coming-from-the-operator.md").read_text()
    named = set(re.findall(r"`pintle ([a-z]+)", page))
    verbs = {line.split()[0] for line in pintle("help").stdout.splitlines() if line.startswith("  ")}
    assert len(named) >= 10 and named <= verbs
    plugin = (SOURCE / "src/ctl/kubectl_plugin.cc").read_text()
    assert all(f'PluginVerb{{"{verb}"' in plugin for verb in re.findall(r"`kubectl pintle ([a-z]+)", page))
    options = {*re.findall(r"`pintle [^`]* (--[a-z-]+)", page)}
    assert options == {"--until", "--set-aside"}
    assert len(re.findall(r"(?m)^\| ", page)) > 15


def test_each_setting_is_in_the_manual_and_no_other():
    known = re.findall(r'Key\{"\w+", "(\w+)"', (SOURCE / "src/agent/settings.cc").read_text())
    described = re.findall(r"(?m)^\.TP\n\.B (\w+)=$", text_of("pintled.conf.5"))
    assert known and sorted(described) == sorted(known)


def exit_statuses():
    """Returns the exit statuses that the code defines, as pairs of a description and a number."""
    header = (SOURCE / "src/base/exit_status.h").read_text()
    return re.findall(r"(?m)^  // (.*)\n  k\w+ = (\d+),$", header)


@pytest.mark.parametrize("page", PROGRAMS)
def test_each_program_has_the_same_table_of_exit_statuses(page):
    section = text_of(page).split(".SH EXIT STATUS\n")[1].split(".SH ")[0]
    described = re.findall(r"(?m)^\.TP\n\.B (\d+)\n(.*)$", section)
    assert [(text, number) for number, text in described] == exit_statuses() and len(described) == 4
    assert section.count("\n") == 1 + 3 * len(described), "the section contains other text"


def test_no_program_has_an_exit_status_of_its_own():
    for path in (SOURCE / "src").rglob("*.cc"):
        found = re.findall(r"\bint k\w*(?:Usage|Exit\w*|Status) = \d+;", path.read_text())
        assert found == [], path


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_mistakes(page):
    formatted = subprocess.run(["groff", "-man", "-Tutf8", "-ww", page], capture_output=True, text=True, check=True)
    assert formatted.stderr == "" and len(PAGES) == 6
