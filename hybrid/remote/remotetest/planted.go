package remotetest

import (
	"bytes"
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Plant stores an object in the part and under the name, of whatever size, as somebody may who
// writes to the service by other means.
type Plant func(t *testing.T, part string, o remote.Object)

// RunPlanted tests how a remote reads objects that are larger than they may be: it refuses
// them, and lists those with a larger label without one. open is as for [Run], and also returns
// how to plant an object.
func RunPlanted(t *testing.T, open func(t *testing.T) (remote.Remote, Plant)) {
	t.Helper()
	r, plant := open(t)
	s := &suite{T: t, r: r}
	fits := object("fits", "text")
	fits.Label = append(fits.Label, bytes.Repeat([]byte(" "), remote.MaxLabel-len(fits.Label))...)
	label, body := fits, object("body", "")
	label.Name, label.Label = "label", append(bytes.Clone(fits.Label), ' ')
	body.Body = make([]byte, remote.MaxObject+1)
	for _, o := range []remote.Object{fits, label, body} {
		plant(t, part, o)
	}
	s.sameJSON(s.get("fits").Label, fits.Label)
	for _, name := range []string{"label", "body"} {
		o, err := s.r.Get(s.Context(), part, name, "")
		s.is(err, remote.ErrTooLarge, "Get of an object with a larger %s", name)
		s.same(len(o.Body)+len(o.Label), 0, "bytes of it")
	}
	s.same(s.list(remote.Query{}), []string{"body", "fits", "label"}, "list")
	for o, err := range s.r.List(s.Context(), part, remote.Query{}) {
		s.ok(err)
		s.same(o.Label != nil, o.Name != "label", "label of %s in a list", o.Name)
	}
}
