package recall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// joined returns a value of JSON in which neighbours in a list are one text, where they show a
// secret only together: blocks of a message, which are told line by line, and arguments of a
// command. So the rules see what a reader would see.
func (c *call) joined(value []byte) (_ []byte, err error) {
	var parts []json.RawMessage
	switch value[0] {
	case '{':
		var object map[string]json.RawMessage
		err = json.Unmarshal(value, &object)
		for _, part := range object {
			parts = append(parts, part)
		}
	case '[':
		err = json.Unmarshal(value, &parts)
	case '"':
		var text string
		err = json.Unmarshal(value, &text)
		if text = strings.TrimSpace(text); text != "" && strings.ContainsRune("{[", rune(text[0])) {
			if inner, err := c.joined([]byte(text)); err == nil && string(inner) != text { // it need not be JSON
				return quoted(string(inner)), nil
			}
		}
	}
	for i := 0; i < len(parts) && err == nil; i++ {
		var inner []byte
		if inner, err = c.joined(parts[i]); !bytes.Equal(inner, parts[i]) { // an equal part elsewhere shows the same
			value = bytes.ReplaceAll(value, parts[i], inner)
		}
	}
	if err == nil && value[0] == '[' {
		value = c.together(value)
	}
	return value, err
}

// together returns a list in which neighbours are one text where that tells less: a token in two
// or three pieces, all lines, or all words.
func (c *call) together(list []byte) []byte {
	var all, out []json.RawMessage
	var texts, bare []string
	form := "%s"
	_ = json.Unmarshal(list, &all)
	for _, part := range all {
		var block struct{ Text *string }
		switch part[0] {
		case '"':
			_ = json.Unmarshal(part, &block.Text)
		case '{':
			_ = json.Unmarshal(part, &block)
			form = `{"type":"text","text":%s}`
		}
		if block.Text == nil {
			out = append(out, part)
		} else {
			texts, bare = append(texts, *block.Text), append(bare, c.shown(*block.Text))
		}
	}
	for _, way := range []struct {
		pieces  int
		between string
	}{{3, ""}, {2, ""}, {len(texts), "\n"}, {len(texts), " "}} {
		for i := 0; i+way.pieces <= len(texts) && i+1 < len(texts); i++ {
			end, from := i+way.pieces, texts
			if way.between == "" { // a token is seen at the beginning of a word
				from = bare
			}
			now := c.shown(strings.Join(from[i:end], way.between))
			if len(placeholder.ReplaceAllString(now, "")) < len(placeholder.ReplaceAllString(strings.Join(bare[i:end], way.between), "")) {
				texts, bare = slices.Replace(texts, i, end, now), slices.Replace(bare, i, end, now)
			}
		}
	}
	if len(texts)+len(out) == len(all) {
		return list
	}
	for _, text := range texts {
		out = append(out, fmt.Appendf(nil, form, quoted(text)))
	}
	return quoted(out)
}
