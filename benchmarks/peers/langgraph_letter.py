"""The graph that LangGraph runs where answers are measured: draft, ask a person, send."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


def letter(saver: Any, state: type, draft: Callable[[Any], Any], send: Callable[[Any], Any]) -> Any:
    """`draft` and `send` may be coroutine functions; the state has a field `approved`."""

    def ask(state: Any) -> dict[str, bool]:
        return {"approved": interrupt("Send it?") == "yes"}

    graph = StateGraph(state)
    graph.add_node("draft", draft)
    graph.add_node("ask", ask)
    graph.add_node("send", send)
    for before, after in [(START, "draft"), ("draft", "ask"), ("ask", "send"), ("send", END)]:
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)
