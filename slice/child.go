package slice

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Child is a session that names another one as its parent: a fork, or a
// sub-session.
type Child struct {
	SessionID string  `json:"session_id"` // of the metadata; the directory's name where that is no text
	Dir       string  `json:"session_dir"`
	Turn      *int    `json:"forked_from_turn"`
	ForkedAt  *string `json:"forked_at"`
	Turns     int     `json:"turn_count"`
}

// childOf returns the session in the directory id, whose metadata are raw.
func childOf(st *sessionstore.Store, id string, raw []byte) (Child, error) {
	md, err := sessionstore.ParseMetadata(raw)
	if err != nil {
		return Child{}, err
	}
	c := Child{
		SessionID: sessionIDOf(md, id), Dir: filepath.Join(st.Dir(), id),
		Turn: intMember(md, "forked_from_turn"), ForkedAt: textMember(md, "forked_at"),
	}
	if n, ok := md.Int("turn_count"); ok {
		c.Turns = n
	}
	return c, nil
}

// sessionIDOf returns the session_id of metadata, or id if that is no string.
func sessionIDOf(md sessionstore.Metadata, id string) string {
	if text := textMember(md, "session_id"); text != nil {
		return *text
	}
	return id
}

func textMember(md sessionstore.Metadata, name string) *string {
	raw, _ := md.Lookup(name)
	return optionalText(raw)
}

func intMember(md sessionstore.Metadata, name string) *int {
	if n, ok := md.Int(name); ok {
		return &n
	}
	return nil
}

// newestFirst sorts children: first those whose forked_at is a time, by that
// time; then those with another forked_at, by its text; then the others.
func newestFirst(all []Child) {
	slices.SortStableFunc(all, func(a, b Child) int {
		at, aok := forkTime(a)
		bt, bok := forkTime(b)
		switch {
		case aok && bok:
			return cmp.Or(bt.Compare(at), cmp.Compare(a.Dir, b.Dir))
		case aok:
			return -1
		case bok:
			return 1
		}
		return cmp.Or(cmp.Compare(forkText(b), forkText(a)), cmp.Compare(a.Dir, b.Dir))
	})
}

func forkText(c Child) string {
	if c.ForkedAt == nil {
		return ""
	}
	return *c.ForkedAt
}

func forkTime(c Child) (time.Time, bool) {
	at, _, err := pytime.Parse(forkText(c))
	return at, err == nil && c.ForkedAt != nil
}
