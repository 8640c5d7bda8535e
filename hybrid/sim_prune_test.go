package hybrid

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// prune lets a device look after the copies, beside whoever writes and with
// little patience. Nothing goes but former heads when their time is over.
func (w *world) prune(d *gadget, _ string) {
	if d.running { // see sync
		return
	}
	o := &PruneOptions{HistoryRetention: -1, All: w.rand.IntN(2) == 0, Grace: []time.Duration{time.Nanosecond, 0}[w.rand.IntN(2)]}
	if w.rand.IntN(2) == 0 {
		o.HistoryRetention = 10 * 24 * time.Hour
	}
	all, firm := w.reader.kept()
	_, err := d.Prune(w.ctx(), o)
	w.expected(d, err)
	require.NotErrorIs(w.t, err, ErrDamaged)
	left := w.reader.reachable()
	require.Empty(w.t, w.reader.found())
	for mark := range all {
		switch {
		case left[mark]:
		case firm[mark] || o.HistoryRetention < 0:
			require.Fail(testenv.Lost(w.t), "pruning lost a record", "%s, by %s", mark, d.name)
		default:
			w.withdrawn[mark] = true
		}
	}
}

// week lets a week pass in which nobody does anything.
func (w *world) week(*gadget, string) {
	for _, d := range w.devices {
		if d.running {
			w.expected(d, d.Close())
		}
	}
	time.Sleep(8 * 24 * time.Hour)
	for _, d := range w.devices {
		if d.running {
			w.open(d)
		}
	}
}
