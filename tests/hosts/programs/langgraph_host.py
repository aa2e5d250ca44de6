"""A graph of LangGraph: a model, and the node that runs its tools at once."""

from __future__ import annotations

from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.hosts.host_runs import Ask, Wrap, main
from tests.hosts.plain_tools import CASES, check, fail, read
from tests.hosts.scripted_server import MODEL


def build(url: str, wrap: Wrap) -> Ask:
    made = [StructuredTool.from_function(read), StructuredTool.from_function(coroutine=fail)]
    tools = [*map(wrap, made), wrap(check)]
    model = ChatOpenAI(model=MODEL, base_url=url, api_key="none", max_retries=0).bind_tools(tools)

    async def reply(state: MessagesState) -> dict[str, object]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", reply)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile()

    async def ask(task: str) -> str:
        state = await agent.ainvoke({"messages": [("user", task)]})
        return str(state["messages"][-1].content)

    return ask


if __name__ == "__main__":
    main(build, CASES)
