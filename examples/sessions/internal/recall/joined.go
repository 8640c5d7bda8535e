package recall

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// pythonNumbers finds strings of JSON, and outside of them the numbers that Python writes and JSON lacks.
var pythonNumbers = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// plain finds a text whose first word is of letters as people write them, so that it does not go on with a token.
var plain = regexp.MustCompile(`^[^\sA-Za-z0-9]*([A-Z]?[a-z]+[^\sA-Za-z0-9]+)*([A-Z]?[a-z]+)?(\s|$)`)

// longestSecret is the size to which pieces of a word are joined.
const longestSecret = 8 << 10

// joined returns a value of JSON in which neighbours in a list are one text where that shows less:
// blocks of a message, which are shown line by line, and arguments of a command. It looks at
// neighbours as lines, as words, and as pieces of a word, and sets more where it joins some. It looks
// into a text that begins with values of JSON, as rows, arguments and many results do.
func (c *call) joined(value any, more *bool) any {
	switch v := value.(type) {
	case string:
		if strings.IndexAny(strings.TrimLeft(v, " \t\r\n"), `[{"`) != 0 {
			return v
		}
		text, end, found, values := v, int64(0), false, []any(nil)
		if strings.Contains(v, "NaN") || strings.Contains(v, "Infinity") {
			text = pythonNumbers.ReplaceAllStringFunc(v, func(s string) string {
				if s[0] == '"' {
					return s
				}
				return "null"
			})
		}
		from := json.NewDecoder(strings.NewReader(text))
		from.UseNumber()
		for inner := any(nil); from.Decode(&inner) == nil; inner = nil {
			values, end = append(values, c.joined(inner, &found)), from.InputOffset()
		}
		if !found {
			return v
		}
		var out strings.Builder
		to := json.NewEncoder(&out)
		to.SetEscapeHTML(false)
		for _, inner := range values {
			_ = to.Encode(inner) // it was JSON
		}
		*more = true
		return strings.TrimSuffix(out.String(), "\n") + text[end:]
	case map[string]any:
		for name, part := range v {
			v[name] = c.joined(part, more)
		}
	case []any:
		var texts, bare []string
		var out []any
		blocks := false
		for i, part := range v {
			v[i] = c.joined(part, more)
			text, ok := v[i].(string)
			if block, is := v[i].(map[string]any); is {
				text, ok = block["text"].(string)
				blocks = blocks || ok
			}
			if ok {
				texts, bare = append(texts, text), append(bare, c.shown(text))
			} else {
				out = append(out, v[i])
			}
		}
		for _, way := range []struct {
			pieces  int
			between string
		}{{2, " "}, {2, ""}, {3, ""}, {0, "\n"}, {0, " "}} {
			pieces := max(2, cmp.Or(way.pieces, len(texts)))
			for i := 0; i+pieces <= len(texts); {
				whole, apart := strings.Join(texts[i:i+pieces], way.between), strings.Join(bare[i:i+pieces], way.between)
				now := apart
				if way.pieces == 0 || len(whole) < longestSecret {
					now = c.shown(whole)
				}
				less := now != apart && len(placeholder.ReplaceAllString(now, "")) < len(placeholder.ReplaceAllString(apart, ""))
				if less && way.between == "" && plain.MatchString(texts[i+pieces-1]) { // a word after a secret is none of it
					less = strings.Count(now, "[redacted:") > strings.Count(apart, "[redacted:")
				}
				if less {
					texts, bare = slices.Replace(texts, i, i+pieces, whole), slices.Replace(bare, i, i+pieces, now)
				} else {
					i++
				}
			}
		}
		if len(texts)+len(out) == len(v) {
			return v
		}
		*more = true
		for _, text := range bare {
			if out = append(out, text); blocks {
				out[len(out)-1] = map[string]any{"type": "text", "text": text}
			}
		}
		return out
	}
	return value
}
