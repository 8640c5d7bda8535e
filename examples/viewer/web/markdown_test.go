package web

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                           "<p>plain</p>\n",
		"# Head\n\n- a\n- **b**":          "<h1>Head</h1>\n<ul>\n<li>a</li>\n<li><strong>b</strong></li>\n</ul>\n",
		"3. c":                            "<ol start=\"3\">\n<li>c</li>\n</ol>\n",
		"```go\nif a < b {\n```":          "<pre><code class=\"language-go\">if a &lt; b {\n</code></pre>\n",
		"| a |\n|---|\n| `b` |":           "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td><code>b</code></td>\n</tr>\n</tbody>\n</table>\n",
		"~~no~~":                          "<p><del>no</del></p>\n",
		"a <b>bold</b>":                   "<p>a &lt;b&gt;bold&lt;/b&gt;</p>\n",
		"<div onclick=x>\nhi\n</div>":     "<pre>&lt;div onclick=x&gt;\nhi\n&lt;/div&gt;</pre>\n",
		"<script>alert(1)\n</script> x":   "<pre>&lt;script&gt;alert(1)\n&lt;/script&gt; x</pre>\n",
		"[x](javascript:alert(1))":        "<p>x</p>\n",
		"[x](/p/weather)":                 "<p>x</p>\n",
		"[x](//evil.example)":             "<p>x</p>\n",
		"[x](data:text/html;base64,YQ==)": "<p>x</p>\n",
		"![cat](https://a.example/c.png)": "<p><a href=\"https://a.example/c.png\" rel=\"nofollow noreferrer noopener\" target=\"_blank\">image: cat</a></p>\n",
		"![](x\" onerror=\"y)":            "<p>![](x&#34; onerror=&#34;y)</p>\n",
	} {
		require.Equal(t, want, renderMarkdown(text), text)
	}
	require.Empty(t, renderMarkdown(strings.Repeat("x", maxRendered+1)))
}

// TestMarkdownIsInert renders what tries to get something else into the page.
func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	bad := regexp.MustCompile(`(?i)<(script|img|iframe|object|style|svg|form|input|link|meta|base)|<[^>]* (on\w+|style|id|name|srcdoc|formaction)\s*=|href="(?:https?:|mailto:)?(?:javascript|data|vbscript)`)
	for _, text := range []string{
		attack, "`" + attack + "`", "> " + attack, "| " + attack + " |\n|---|\n| " + attack + " |", "[" + attack + "](" + attack + ")",
		"![" + attack + "](x)", "[a](<javascript:alert(1)>)", "[a](JaVaScRiPt:alert(1))", "[a](java&#115;cript:alert(1))", "[a](&#x6A;avascript:alert(1))", "<javascript:alert(1)>",
		"[a]: javascript:alert(1)\n\n[a]", "```\"><script>\nx\n```", "```x onload=alert(1)\nx\n```", "<svg/onload=alert(1)>", "<style>@import 'x'</style>", "<!--><script>alert(1)</script>-->",
		"<![CDATA[<script>alert(1)</script>]]>", "<?php <script>x</script> ?>", "&lt;script&gt;alert(1)&lt;/script&gt;", "<a href=\"x\" style=\"position:fixed\">x</a>", "<math><mi><style><img src=x onerror=alert(1)></style>",
	} {
		require.NotRegexp(t, bad, renderMarkdown(text), text)
	}
}

// TestMarkdownIsQuick renders what makes parsers slow.
func TestMarkdownIsQuick(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"[", "![", "> ", "*a ", "**a _", "`", "<", "- ", "[a](", "|", "&", "~", "a**b", "](", "_a __a "} {
		text := strings.Repeat(part, maxRendered/len(part))
		began := time.Now()
		renderMarkdown(text)
		t.Logf("%-8q %v", part, time.Since(began).Round(time.Millisecond))
		require.Less(t, time.Since(began), time.Minute, part)
	}
}

func TestMessagesAreRendered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("**why**"), map[string]any{"role": "assistant", "content": "**so** &#x202e;"})
	var got struct {
		Rows []struct {
			HTML string
			Body struct{ Text string }
		}
	}
	s.json(api(one)+"/messages", &got)
	require.Empty(t, got.Rows[0].HTML, "a person's text is shown as it was written")
	require.Equal(t, "<p><strong>so</strong> [U+202E]</p>\n", got.Rows[1].HTML)
	require.Equal(t, "**so** &#x202e;", got.Rows[1].Body.Text)
	var whole struct{ HTML string }
	s.json(api(one)+"/messages/1", &whole)
	require.Equal(t, got.Rows[1].HTML, whole.HTML)
}
