from __future__ import annotations

import pytest

from forge.core.tools.webfetch import Page, readable
from forge.core.tools.webpage import to_text

PAGE = "https://site.example/d/p.html"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>A <em>b</em></h1><p>x<br>y</p><hr>z", "# A *b*\n\nx\ny\n\n---\n\nz"),
        (
            "<ul><li>a<ul><li>b<li>c</ul><li>d<p>more</p></ul>",
            "- a\n  - b\n  - c\n- d\n\n  more",
        ),
        ("<ul><li>a<ol start=3><li>x<li>y</ol></ul>", "- a\n  3. x\n  4. y"),
        (
            "<ol><li>a<pre><code class='language-py'>if x:\n  y</code></pre></ol>",
            "1. a\n\n   ```py\n   if x:\n     y\n   ```",
        ),
        (
            "<table><thead><tr><th>A<th>B</thead><tr><td>1<td>a|b<tr><td colspan=2>w</table>",
            "| A | B |\n| --- | --- |\n| 1 | a\\|b |\n| w |  |",
        ),
        (
            "<table><tr><td>left<td><table><tr><td>in<td>ner</table></table>",
            "left\n\n| in | ner |\n| --- | --- |",
        ),
        ("<blockquote><p>q<blockquote>deep</blockquote></blockquote>", "> q\n>\n> > deep"),
        ("<pre>a\n\n   b ``` c</pre>", "````\na\n\n   b ``` c\n````"),
        ("<a href='x y.html'>in <b>d</b></a>", "[in **d**](https://site.example/d/x%20y.html)"),
        ("<base href='/b/'><a href=x>y</a>", "[y](https://site.example/b/x)"),
        ("<a href=/c><h3>T</h3><p>p</p></a>", "### [T](https://site.example/c)\n\np"),
        ("<a href='javascript:x'>js</a><a href=/e></a>", "js"),
        ("<img src=/i.png alt=pic><img src=z>", "![pic](https://site.example/i.png)"),
        ("<dl><dt>t<dd>one<dd>two</dl>", "t\n\n: one\n\n: two"),
        ("<code>a`b</code> <kbd>Q</kbd> <del>x</del> <b> s </b>z", "`` a`b `` `Q` ~~x~~ **s** z"),
        ("<nav>m</nav><div hidden>h</div><i aria-hidden=true>i</i><p style='display: none'>n</p>ok", "ok"),
        ("1 &lt; 2 &copy; &#8364; &nosuch;", "1 < 2 © € &nosuch;"),
        ("<p>a</p>\n\n<p>&nbsp;</p><p>b\nc</p>", "a\n\nb c"),
        ("<b>bold <i>both<p>para</i></b>", "bold\n\nboth\n\npara"),
        ("</div><td>stray</td><li>item", "stray\n\nitem"),
    ],
)
def test_what_a_page_shows_is_kept_in_its_order_and_form(html: str, text: str) -> None:
    assert to_text(html, PAGE) == text


@pytest.mark.parametrize("piece", ["<blockquote>x", "<ul><li>x", "<table><tr><td>x", "<b>x", "<div>x"])
def test_a_page_does_not_grow_however_deep_it_is(piece: str) -> None:
    assert len(to_text(piece * 3_000)) < 40 * 3_000


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/html", "<meta charset='windows-1251'><p>Ж".encode("cp1251"), "Ж"),
        ("text/html; charset=ISO-8859-1", b"<p>\x93q\x94", "“q”"),
        ("text/html; charset=gb2312", "<p>中文".encode("gbk"), "中文"),
        ("text/html", "\ufeff<p>é".encode("utf-16-le"), "é"),
        ("text/plain", b"\xef\xbb\xbfplain", "plain"),
        ("text/html", b"<p>\xff", "\ufffd"),
    ],
)
def test_pages_are_read_in_the_encoding_they_name(kind: str, body: bytes, text: str) -> None:
    assert readable(Page(PAGE, 200, kind, body)) == text
