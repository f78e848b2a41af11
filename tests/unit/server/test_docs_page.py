"""The page that documents the server: complete, whole in itself, and safe."""

import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from fastapi import FastAPI, Header, Query
from pydantic import BaseModel, Field

from callboard.server import docs_page
from callboard.server.docs_schema import Examples

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link", "wbr"}


class Inner(BaseModel):
    """What is inside."""

    kind: str = Field(default="a", description=f"A `kind` & {EVIL}")


class Body(BaseModel):
    """A body."""

    name: str = Field(min_length=1)
    inner: Inner | None = None
    many: list[Inner] = []


def document() -> dict[str, Any]:
    app = FastAPI(title="Things", version="1.2.3", description=f"About `things`.\n\n{EVIL}")

    @app.post("/things/{thing_id}", tags=["things"], responses={409: {"description": "Taken."}})
    def change(
        thing_id: str, body: Body, dry: bool, after: int | None = Query(None, ge=0)
    ) -> Inner:
        """Change a thing; `dry` does not."""
        return Inner()

    @app.get(
        "/stream",
        tags=["events"],
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    def stream(last_event_id: str | None = Header(None)) -> dict[str, str]:
        return {}

    return app.openapi()


class Checked(HTMLParser):
    """Collects what matters, and insists that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(page: str) -> Checked:
    checked = Checked()
    checked.feed(page)
    checked.close()
    assert checked.open == []
    return checked


def test_every_route_parameter_body_answer_and_error_is_there():
    page = read(docs_page.page(document(), "http://here:1"))
    address = ["POST", "/things/{thing_id}", "thing_id", "dry", "after", "last-event-id"]
    meaning = ["Taken.", "409", "Body", "not empty", "at least 0", "text/event-stream", "1.2.3"]
    for said in address + meaning:
        assert said in page.text, said


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing():
    page = read(docs_page.page(document(), "http://here:1"))
    tags = {tag for tag, _, _ in page.attributes}
    assert not tags & {"script", "style", "img", "iframe"}
    assert not [name for _, name, _ in page.attributes if name == "style" or name.startswith("on")]
    links = {value for _, name, value in page.attributes if name in ("href", "src")}
    assert {link for link in links if link and not link.startswith("#")} == {
        docs_page.STYLE,
        "/openapi.json",
    }
    assert b"url(" not in docs_page.style()
    assert b"@import" not in docs_page.style()


def test_every_link_on_the_page_leads_somewhere_and_no_anchor_is_there_twice():
    page = read(docs_page.page(document(), "http://here:1"))
    anchors = Counter(value for _, name, value in page.attributes if name == "id")
    links = {value[1:] for _, name, value in page.attributes
             if name == "href" and value and value.startswith("#")}  # fmt: skip
    assert links <= set(anchors)
    assert set(anchors.values()) == {1}


def test_what_the_document_says_is_text_and_never_markup():
    page = docs_page.page(document(), EVIL)
    assert "<script" not in page
    assert EVIL in read(page).text


def test_the_commands_are_ones_that_a_shell_takes():
    page = docs_page.page(document(), "http://here:1")
    text = "".join(re.findall(r"<pre>(curl.*?)</pre>", page, re.DOTALL))
    assert "-N" in text
    commands = [shlex.split(read(f"<p>{one}</p>").text)
                for one in re.findall(r"<pre>(curl.*?)</pre>", page, re.DOTALL)]  # fmt: skip
    posted = next(words for words in commands if "POST" in words)
    assert posted[3] == "http://here:1/things/$THING_ID?dry=$DRY"
    assert posted[-2:] == ["-d", '{"name":"text"}']


def test_an_example_of_what_contains_itself_comes_to_an_end():
    tree = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Tree"}},
            "required": ["next"]}  # fmt: skip
    assert Examples({"Tree": tree}).of(tree) == {"next": {"next": {"next": {"next": {}}}}}
