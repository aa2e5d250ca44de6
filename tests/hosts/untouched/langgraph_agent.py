"""A graph of LangGraph: a model, and the node that runs its tools."""

from __future__ import annotations

from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.hosts.untouched.commands import MODEL, main
from tests.hosts.untouched.file_tools import TOOLS


async def work(base_url: str, prompt: str) -> str:
    tools = [StructuredTool.from_function(tool) for tool in TOOLS]
    model = ChatOpenAI(model=MODEL, base_url=base_url, api_key="none").bind_tools(tools)

    async def reply(state: MessagesState) -> dict[str, object]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", reply)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    state = await graph.compile().ainvoke({"messages": [("user", prompt)]})
    return str(state["messages"][-1].content)


if __name__ == "__main__":
    main(work)
