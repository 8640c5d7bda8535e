package slice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Preview describes the session that [Fork] would make.
type Preview struct {
	ParentID      *string `json:"parent_id"` // nil: the parent's session_id is no text
	Turn          int     `json:"turn"`
	MaxTurns      int     `json:"max_turns"`
	Messages      int     `json:"message_count"`      // before calls are completed or removed
	Orphaned      bool    `json:"has_orphaned_tools"` // some calls have no result
	OrphanedCount int     `json:"orphaned_tool_count"`
	LastUser      string  `json:"last_user_message"`      // its first 100 characters
	LastAssistant string  `json:"last_assistant_message"` // the first 100 characters of the last assistant message that has text

	Damage error `json:"-"` // not nil: the session is damaged and no backup is good; this is about the readable part
}

// PreviewFork describes the session that [Fork] would make of session id at a turn. Turns
// are counted from 1; nil is the last. It writes nothing. If there is no such turn, the
// text of the error is the reference's. The other errors are the same as Fork returns for
// the parent.
func PreviewFork(ctx context.Context, st *sessionstore.Store, id string, turn *int) (Preview, error) {
	p, err := readParent(ctx, st, id, "")
	if errors.Is(err, errNoTranscript) {
		err = noTranscript(st, id, "")
	}
	if err != nil {
		return Preview{}, err
	}
	count := CountTurns(p.rows)
	at := count
	if turn != nil {
		at = *turn
	}
	t, _, ok := findTurn(p.rows, at)
	if !ok {
		if count == 0 && p.damage != nil {
			return Preview{}, p.damage
		}
		return Preview{}, limits.Reference(nil, fmt.Sprintf("Turn %d out of range (1-%d)", at, count))
	}
	rows := p.rows[:t.End]
	orphans := OrphanedToolCalls(rows)
	return Preview{
		ParentID: optionalText(p.sessionID), Turn: at, MaxTurns: count, Messages: len(rows),
		Orphaned: len(orphans) > 0, OrphanedCount: len(orphans),
		LastUser: lastText(rows, "user"), LastAssistant: lastText(rows, "assistant"), Damage: p.damage,
	}, nil
}

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
		return limits.Runes(pyjson.Text(content), previewed)
	case pyjson.Array:
		for block := range pyjson.Elements(content) {
			if !turns.IsBlock(block, "text") {
				continue
			}
			return limits.Runes(pyjson.Text(turns.Members(block, "text")[0]), previewed)
		}
	}
	switch shown := string(pyjson.AppendRepr(nil, content, 4*previewed)); shown {
	case "{}", "0", "0.0", "-0.0":
		return ""
	default:
		return limits.Runes(shown, previewed)
	}
}

// Info describes a stored session, and says whether it can be continued. A member of its
// metadata that is no string is "" here.
type Info struct {
	SessionID string   `json:"session_id"` // of the metadata; the directory's name when they have none
	Path      string   `json:"path"`
	Project   string   `json:"project"` // the directory of the sessions directory
	Created   string   `json:"created"`
	Bundle    string   `json:"bundle"`
	Model     string   `json:"model"`
	Turns     int      `json:"turn_count"` // of the transcript
	Status    string   `json:"status"`
	Modes     []string `json:"failure_modes"`
}

// Inspect returns the [Info] of session id. The error Is [sessionstore.ErrCorrupt] when the
// metadata are damaged, or when a line of the transcript cannot be read or is no JSON
// object, even if a backup is good. It Is [fs.ErrNotExist] when the session has no metadata
// or no transcript, and [sessionstore.ErrNotFound] when there is no such session.
func Inspect(ctx context.Context, st *sessionstore.Store, id string) (Info, error) {
	s, err := st.Load(ctx, id)
	if err != nil && s != nil {
		if _, damaged := st.Metadata(ctx, id); damaged == nil { // then it is of the transcript, which may be missing
			err = cmp.Or(hasFiles(ctx, st, id), err)
		}
	}
	if err != nil {
		return Info{}, err
	}
	if r := s.Recovered; r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return Info{}, r.Reason
	}
	if err := hasFiles(ctx, st, id); err != nil {
		return Info{}, err
	}
	if err := onlyObjects(st, id, s.Messages); err != nil {
		return Info{}, err
	}
	d, err := Diagnose(s.Messages)
	if err != nil {
		return Info{}, err
	}
	md := s.Metadata
	info := Info{
		SessionID: id, Path: filepath.Join(st.Dir(), id), Project: filepath.Base(filepath.Dir(st.Dir())),
		Created: md.Text("created"), Bundle: md.Text("bundle"), Model: md.Text("model"),
		Turns: CountTurns(s.Messages), Status: d.Status, Modes: d.Modes,
	}
	if _, ok := md.Lookup("session_id"); ok {
		info.SessionID = md.Text("session_id")
	}
	return info, nil
}

// hasFiles returns an error if a session has no metadata or no transcript.
func hasFiles(ctx context.Context, st *sessionstore.Store, id string) error {
	return core.Of(st).Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Metadata, sessiondir.Transcript} {
			if _, err := d.Stat(name); errors.Is(err, fs.ErrNotExist) {
				return &fs.PathError{Op: "inspect", Path: d.Path(name), Err: fs.ErrNotExist}
			}
		}
		return nil
	})
}
