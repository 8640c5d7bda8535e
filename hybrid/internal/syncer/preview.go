package syncer

import (
	"context"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Preview is what the cloud tells of a session without its lines. Package hybrid
// documents its fields.
type Preview struct {
	Name, Description string
	Updated           time.Time
	Turns             int
	Messages          []PreviewMessage
}

// PreviewMessage is a message of a Preview.
type PreviewMessage struct {
	Turn int
	Role string
	Time time.Time
}

// preview reads the head, and tells what it leads to.
func (c *cloud) preview(ctx context.Context) (Preview, error) {
	t, _, err := c.link.Head(ctx, c.sid, remoteread.Known{}) // the session token keeps it from being an older one
	switch {
	case err != nil:
		return Preview{}, err
	case t == nil:
		return Preview{}, gc.ErrAbsent
	case t.Deleted:
		return Preview{}, ErrRemoved
	}
	p := Preview{
		Name: t.Name(), Description: descriptionOf(t), Updated: t.Updated, Turns: t.Transcript.Turns,
	}
	turn := 0
	for b, err := range c.link.Blocks(ctx, t) {
		if err != nil {
			return p, err
		}
		if b.Role == "user" {
			turn++
		}
		p.Messages = append(p.Messages, PreviewMessage{turn, b.Role, b.Time})
	}
	return p, nil
}

// descriptionOf returns the description in metadata that the head itself holds.
func descriptionOf(t *head.Head) string {
	metadata := t.Files[sessiondir.Metadata].Text
	if pyjson.Check(metadata, pyjson.Strict) != nil {
		return ""
	}
	v, ok := pyjson.Lookup(metadata, "description")
	if !ok || pyjson.KindOf(v) != pyjson.String {
		return ""
	}
	return pyjson.Text(v)
}

// Preview reads what the cloud tells of a session without its lines. With an error
// that Is [remoteread.ErrDamaged] it returns what could be read.
func (e *Syncer) Preview(ctx context.Context, id string) (p Preview, err error) {
	if err := e.identityOf(id).Check(); err != nil {
		return p, err
	}
	c := e.session(id, Options{Mode: Asked, Named: true}).cloud()
	err = patient(ctx, func() error {
		p, err = c.preview(ctx)
		return err
	})
	return p, err
}
