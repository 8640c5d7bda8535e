package slice

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Preview tells what [Fork] would make.
type Preview struct {
	ParentID      *string `json:"parent_id"` // nil: the parent's session_id is no text
	Turn          int     `json:"turn"`
	MaxTurns      int     `json:"max_turns"`
	Messages      int     `json:"message_count"`      // before calls are completed or removed
	Orphaned      bool    `json:"has_orphaned_tools"` // some calls have no result
	OrphanedCount int     `json:"orphaned_tool_count"`
	LastUser      string  `json:"last_user_message"`      // its first 100 characters
	LastAssistant string  `json:"last_assistant_message"` // the first 100 characters of the last one that has text

	Damage error `json:"-"` // not nil: the session is damaged and no backup is good; this is about what can be read
}

// PreviewFork tells what [Fork] would make of session id at a turn. Turns are
// counted from 1; nil is the last. It writes nothing. If there is no such
// turn, the text of the error is the reference's. The other errors are those of
// Fork for the parent.
func PreviewFork(ctx context.Context, st *sessionstore.Store, id string, turn *int) (Preview, error) {
	p, err := readParent(ctx, st, id, "")
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		return Preview{}, &unpreviewedError{missing}
	}
	if err != nil {
		return Preview{}, err
	}
	at := CountTurns(p.rows)
	if turn != nil {
		at = *turn
	}
	t, count := turnAt(p.rows, at)
	if at < 1 || at > count {
		if count == 0 && p.damage != nil {
			return Preview{}, p.damage
		}
		return Preview{}, textError(fmt.Sprintf("Turn %d out of range (1-%d)", at, count))
	}
	rows := p.rows[:t.End]
	orphans := OrphanedToolCalls(rows)
	return Preview{
		ParentID: optionalText(p.sessionID), Turn: at, MaxTurns: count, Messages: len(rows),
		Orphaned: len(orphans) > 0, OrphanedCount: len(orphans),
		LastUser: lastText(rows, "user"), LastAssistant: lastText(rows, "assistant"), Damage: p.damage,
	}, nil
}

// unpreviewedError is a missingError with the text that the reference has for a
// preview.
type unpreviewedError struct{ *missingError }

func (e *unpreviewedError) Error() string { return e.short() }

// previewed is the number of characters of a message that a preview shows.
const previewed = 100

// lastText returns the beginning of the last message of that role that has text,
// and "" if there is none.
func lastText(rows []sessionstore.Message, role string) string {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Role() != role {
			continue
		}
		if text := beginning(turns.Members(rows[i].AppendTo(nil), "content")[0]); text != "" {
			return text
		}
	}
	return ""
}

// beginning returns the first characters of a content: of its text, of its first
// block of text, or, if it is neither, of its repr in Python.
func beginning(content []byte) string {
	switch pyjson.KindOf(content) {
	case pyjson.Invalid, pyjson.Null, pyjson.False:
		return ""
	case pyjson.String:
		return firstRunes(pyjson.Text(content), previewed)
	case pyjson.Array:
		for block := range pyjson.Elements(content) {
			if !turns.IsBlock(block, "text") {
				continue
			}
			if raw := turns.Members(block, "text")[0]; pyjson.KindOf(raw) == pyjson.String {
				return firstRunes(pyjson.Text(raw), previewed)
			}
			return ""
		}
	}
	switch shown := string(appendShown(nil, content, 4*previewed)); shown {
	case "{}", "0", "0.0", "-0.0":
		return ""
	default:
		return firstRunes(shown, previewed)
	}
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
