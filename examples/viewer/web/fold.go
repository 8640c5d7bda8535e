package web

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// Limits of the summary of a fold. A fold is a call of a tool, or a result without a
// call: the page shows its summary, and the rest when it is opened.
const (
	maxGist = 100 // bytes of the first argument
	maxName = 200 // bytes of the name of a tool, and of the id of a call
)

// fold shortens the names and ids in the summaries of a message's folds. It returns a
// line for each fold: calls come first, then results without a call.
func fold(m *conversation.Message) (gists []string) {
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Name, c.ID = eventview.Shorten(c.Name, maxName), eventview.Shorten(c.ID, maxName)
		gists = append(gists, oneLine(firstArgument(c.Arguments.Text)))
	}
	for i := range m.Results {
		r := &m.Results[i]
		r.ID = eventview.Shorten(r.ID, maxName)
		gists = append(gists, oneLine(r.Text.Text))
	}
	return gists
}

// firstArgument returns the value of the first member of a JSON object, and any other
// text as it is. The text may end within the object.
func firstArgument(arguments string) string {
	dec := json.NewDecoder(strings.NewReader(arguments))
	if begin, err := dec.Token(); err != nil || begin != json.Delim('{') {
		return arguments
	}
	name, err := dec.Token()
	if err != nil {
		return arguments
	}
	if name == json.Delim('}') {
		return ""
	}
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return arguments
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// oneLine returns the beginning of a text on one line, without control characters.
func oneLine(text string) string {
	text = eventview.Shorten(text, 4*maxGist) // most of it is not shown
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	return eventview.Shorten(strings.Join(strings.Fields(text), " "), maxGist)
}
