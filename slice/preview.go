package slice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Preview tells what a fork would be.
type Preview struct {
	ParentID      *string `json:"parent_id"` // nil: the parent's session_id is no text
	Turn          int     `json:"turn"`
	MaxTurns      int     `json:"max_turns"`
	Messages      int     `json:"message_count"`      // before calls are completed or removed
	Orphaned      bool    `json:"has_orphaned_tools"` // calls lack a result
	OrphanedCount int     `json:"orphaned_tool_count"`
	LastUser      string  `json:"last_user_message"`      // its first 100 characters
	LastAssistant string  `json:"last_assistant_message"` // of the last one with any text

	Damage error `json:"-"` // the session is damaged, and no backup is good: this is of what can be read
}

// PreviewFork tells what [Fork] would make of session id at a turn, of which 0
// is the last. The errors for a turn that is not there are the reference's.
func PreviewFork(ctx context.Context, st *sessionstore.Store, id string, turn int) (Preview, error) {
	p, err := readParent(ctx, st, id)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		return Preview{}, fmt.Errorf("%s: %w", missing.short(), fs.ErrNotExist)
	}
	if err != nil {
		return Preview{}, err
	}
	if turn == 0 {
		_, turn = turnAt(p.rows, 0)
	}
	t, count := turnAt(p.rows, turn)
	if turn < 1 || turn > count {
		if count == 0 && p.damage != nil {
			return Preview{}, p.damage
		}
		return Preview{}, textError(fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	rows := p.rows[:t.End]
	orphans := OrphanedToolCalls(rows)
	return Preview{
		ParentID: optionalText(p.sessionID), Turn: turn, MaxTurns: count, Messages: len(rows),
		Orphaned: len(orphans) > 0, OrphanedCount: len(orphans),
		LastUser: lastText(rows, "user"), LastAssistant: lastText(rows, "assistant"), Damage: p.damage,
	}, nil
}

// optionalText returns a JSON string's text, and nil for what is none.
func optionalText(raw []byte) *string {
	if pyjson.KindOf(raw) != pyjson.String {
		return nil
	}
	text := pyjson.Text(raw)
	return &text
}

// previewed is how many characters a preview shows of a message.
const previewed = 100

// lastText returns the beginning of the last message of a role that has text.
func lastText(rows []sessionstore.Message, role string) string {
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].Role() != role {
			continue
		}
		if text := beginning(members(rows[i].AppendTo(nil), "content")[0]); text != "" {
			return text
		}
	}
	return ""
}

// beginning returns the first characters of a content: of its text, of its
// first block of text, or of what Python shows of it.
func beginning(content []byte) string {
	switch pyjson.KindOf(content) {
	case pyjson.Invalid, pyjson.Null, pyjson.False:
		return ""
	case pyjson.String:
		return firstRunes(pyjson.Text(content), previewed)
	case pyjson.Array:
		for block := range pyjson.Elements(content) {
			if !isBlock(block, "text") {
				continue
			}
			if raw := members(block, "text")[0]; pyjson.KindOf(raw) == pyjson.String {
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
