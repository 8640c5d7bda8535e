package hybrid

import (
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// catalogueEvery is how often a session's entry is written at most.
const catalogueEvery = 30 * time.Second

// catalogue brings the session's entry up to date with a tip that this device
// wrote, unless that was done a short time ago: then the session is looked at
// again later.
func (v *visit) catalogue(ctx context.Context) error {
	if v.tip == nil || v.tip.Writer.Device != v.dev.id || v.tip.Revision <= v.st.Cat.Revision {
		return nil
	}
	if due := v.st.Cat.At.Add(catalogueEvery); time.Now().Before(due) && !v.last {
		v.out.later = due
		return nil
	}
	entry := v.tip.Catalogue(v.uid(), nameOf(v.tip))
	etag, err := v.link.enter(ctx, &entry, v.st.Cat.ETag)
	if err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	v.st.Cat = knownCat{Revision: v.tip.Revision, ETag: etag, At: time.Now()}
	return v.states.save(v.sid, v.st)
}

// announce enters a session before its first tip is there: other devices find
// it then, also when this one never comes back. An entry without a tip means
// nothing.
func (v *visit) announce(ctx context.Context, next *tip.Tip) error {
	entry := next.Catalogue(v.uid(), nameOf(next))
	etag, err := v.link.enter(ctx, &entry, v.st.Cat.ETag)
	if err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	v.st.Cat = knownCat{Revision: next.Revision, ETag: etag, At: time.Now()}
	return nil
}

func nameOf(t *tip.Tip) string {
	name, ok := pyjson.Lookup(t.Files[sessiondir.Metadata].Summary, "name")
	if !ok || pyjson.KindOf(name) != pyjson.String {
		return ""
	}
	return pyjson.Text(name)
}
