"""Which browser the studies and the tests start."""

import os

import pytest

from studies import chromium


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Put commands on PATH, and nothing else."""
    monkeypatch.setenv("PATH", os.fspath(tmp_path))

    def install(*names):
        for name in names:
            (tmp_path / name).touch(mode=0o755)
        return tmp_path

    return install


def test_the_headless_shell_comes_first_and_each_will_do(installed):
    for name in reversed(chromium.COMMANDS):
        folder = installed(name)
        assert chromium.executable() == str(folder / name)
    assert "headless-shell" in chromium.COMMANDS[0]


def test_where_there_is_none_one_is_asked_for(installed):
    installed("firefox")
    assert chromium.executable() is None
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        chromium.launched().__enter__()


@pytest.mark.browser
def test_it_draws_a_page_and_ends():
    with chromium.launched() as browser:
        page = browser.new_page()
        page.set_content("<h1>One</h1>")
        assert page.locator("h1").inner_text() == "One"
    assert not browser.is_connected()
