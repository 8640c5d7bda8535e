package hybrid

import (
	"context"
	"time"
)

// Preview is what the cloud tells of a session without its lines.
type Preview struct {
	SessionID   string           `json:"session_id"`
	Name        string           `json:"name"`        // of the metadata; "" for none
	Description string           `json:"description"` // of the metadata; "" for none, and where metadata.json has more than 4 KB
	Updated     time.Time        `json:"updated"`
	Turns       int              `json:"turns"` // messages of the user
	Messages    []PreviewMessage `json:"messages"`
}

// PreviewMessage is a message of a [Preview].
type PreviewMessage struct {
	Turn int       `json:"turn"` // from 1; 0 before the first message of the user
	Role string    `json:"role"` // user, assistant, tool, system, developer or function; "" for any other
	Time time.Time `json:"time"` // to the second; the zero time when the message has none
}

// Preview tells what a session in the cloud holds: its name, its turns, and the
// roles and times of its messages. It changes nothing here, and the session need
// not be here. It reads the session's head and the indexes of its segments, but no
// lines; only of segments that a version without indexes wrote are the lines read.
// No hash covers an index: what counts is what [Store.Pull] brings. The memory that
// it takes is about 50 bytes a message.
//
// The error Is [sessionstore.ErrNotFound] when the cloud does not have the session,
// [ErrRemoved] when it was removed there, and [ErrUnreachable] when the account does
// not answer. It Is [ErrDamaged] when segments are missing or cannot be read: then
// the preview has all but Messages, or those before the damage.
func (s *Store) Preview(ctx context.Context, id string) (Preview, error) {
	p := Preview{SessionID: id}
	if s.engine == nil {
		return p, wrap("preview", id, ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	t, blocks, err := s.engine.Preview(ctx, id)
	if t == nil {
		return p, wrap("preview", id, err)
	}
	p.Name, p.Description, p.Updated, p.Turns = t.Name(), t.Description(), t.Updated, t.Transcript.Turns
	turn := 0
	for _, b := range blocks {
		if b.Role == "user" {
			turn++
		}
		p.Messages = append(p.Messages, PreviewMessage{turn, b.Role, b.Time})
	}
	return p, wrap("preview", id, err)
}
