package recall

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// decoded returns a text as a value of JSON.
func decoded(text string) (value any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		err = errors.New("it is not JSON")
	}
	return value, err
}

// longestSecret is the size to which neighbours are joined one by one.
const longestSecret = 64 << 10

// joined returns a value of JSON in which neighbours in a list are one text where that shows less:
// blocks of a message, which are shown line by line, and arguments of a command. It looks at
// neighbours as lines, as words, and as pieces of a word, and sets more where it joins some.
func (c *call) joined(value any, more *bool) any {
	switch v := value.(type) {
	case string:
		found := false
		if inner, err := decoded(v); err == nil { // as arguments are stored
			if inner = c.joined(inner, &found); found {
				*more = true
				return string(quoted(inner))
			}
		}
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
		}{{2, "\n"}, {2, " "}, {2, ""}, {3, ""}, {0, "\n"}, {0, " "}} {
			pieces := max(2, cmp.Or(way.pieces, len(texts)))
			for i := 0; i+pieces <= len(texts); {
				whole, apart := strings.Join(texts[i:i+pieces], way.between), strings.Join(bare[i:i+pieces], way.between)
				now := apart
				if way.pieces == 0 || len(whole) < longestSecret {
					now = c.shown(whole)
				}
				if len(placeholder.ReplaceAllString(now, "")) < len(placeholder.ReplaceAllString(apart, "")) {
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
