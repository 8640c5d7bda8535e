package cloud

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
)

func TestCompare(t *testing.T) {
	deferred := fmt.Errorf("sync after a power cut: %w", hybrid.ErrDeferred)
	held := fmt.Errorf("sync after a power cut: %w", hybrid.ErrHeld)
	broken := errors.New("broken")
	one, two := history.State{Rows: []string{"a"}}, history.State{Rows: []string{"a", "b"}}
	torn := history.State{Err: "cannot be read"}
	for name, c := range map[string]struct {
		view        history.View
		relaxed     bool
		here, there history.State
		trouble     error
		want        history.State
	}{
		"equal":                          {history.Cloud, false, two, two, nil, two},
		"the other device has less":      {history.Cloud, false, two, one, nil, history.State{Rows: two.Rows, Err: "another device has 1 rows, not 2: "}},
		"no sync":                        {history.Cloud, false, two, two, broken, history.State{Rows: two.Rows, Err: "broken"}},
		"deferred":                       {history.Cloud, false, two, two, deferred, history.State{Rows: two.Rows, Err: deferred.Error()}},
		"relaxed, deferred":              {history.Cloud, true, two, one, deferred, one},
		"held back":                      {history.Cloud, false, two, two, held, history.State{Rows: two.Rows, Err: held.Error()}},
		"relaxed, held back":             {history.Cloud, true, two, one, held, one},
		"events, held back":              {history.CloudLog, true, two, history.State{Gone: true}, held, two},
		"relaxed, unreadable":            {history.Cloud, true, torn, one, nil, one},
		"relaxed, no sync":               {history.Cloud, true, two, two, broken, history.State{Rows: two.Rows, Err: "broken"}},
		"events, deferred":               {history.CloudLog, true, two, history.State{Gone: true}, deferred, two},
		"events, other device has less":  {history.CloudLog, true, two, one, nil, history.State{Rows: two.Rows, Err: "another device has 1 rows, not 2: "}},
		"events of a durable store wait": {history.CloudLog, false, two, one, deferred, history.State{Rows: two.Rows, Err: deferred.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			s := history.Subject{View: c.view, Relaxed: c.relaxed}
			require.Equal(t, c.want, compare(s, c.here, c.there, c.trouble))
		})
	}
}
