package syncplan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var seedCount = flag.Uint64("seeds", 300, "number of seeds of the model")

// cloud is the remote side, with whole texts.
type cloud struct {
	main     history
	exists   bool
	old      []history
	branches []Branch
	texts    map[string]history // of branches
	undone   string             // lines that an accepted rewind took away
}

// replica is one device. base is nil when its state was lost.
type replica struct {
	name  string
	text  history
	base  *history
	added bool // lines since it was last in step
	live  bool
}

// model is a cloud, its devices, and what must not be lost.
type model struct {
	*require.Assertions
	r       *rand.Rand
	cloud   cloud
	devices []*replica
	policy  Policy
	next    rune
	synced  map[rune]bool // lines that a sync has acknowledged
}

func (m *model) edit(d *replica) {
	runes := []rune(d.text)
	if len(runes) > 0 && m.r.IntN(4) == 0 {
		runes = runes[:m.r.IntN(len(runes))]
	}
	for range m.r.IntN(3) {
		runes = append(runes, m.next)
		m.next++
		d.added = true
	}
	d.text = history(runes)
}

func (m *model) input(d *replica) Input {
	c := &m.cloud
	in := Input{
		Policy: m.policy,
		Local:  Local{Present: true, Tip: d.text.tip(), Has: d.text.has, Live: d.live},
		Remote: Remote{
			Present: c.exists, Tip: c.main.tip(), Has: c.main.has, Branches: func() ([]Branch, error) { return c.branches, nil },
			Replaced: func(p segment.Point) (bool, error) {
				for _, h := range c.old {
					if ok, _ := h.has(p); ok {
						return true, nil
					}
				}
				return false, nil
			},
		},
	}
	if d.base != nil {
		b := d.base.tip()
		in.Base = &b
	}
	return in
}

// sync does what the plan says; crash stops it before the state is saved.
func (m *model) sync(d *replica, crash bool) Action {
	a, err := Plan(m.input(d))
	m.NoError(err)
	c := &m.cloud
	switch a.Kind {
	case Create, Push:
		if a.Kind == Push && a.Why == LocalAdded {
			m.True(strings.HasPrefix(string(d.text), string(c.main)), "a push continues the tip")
		}
		if !d.added && d.base != nil && (m.policy != Ours || d.text == *d.base) { // by Ours it may undo less than the other did
			m.False(strings.ContainsAny(string(d.text), c.undone), "a device that added nothing brought a rewind back")
		}
		c.exists, c.main = true, d.text
	case Rewrite:
		if a.Why == LocalRewrote {
			c.undone += string(c.main[common(c.main, d.text):])
		}
		c.old = append(c.old, c.main)
		if a.KeepRemote {
			m.branch(c.main, a.Replaces)
		}
		c.main = d.text
	case Diverge, Record:
		if !a.Stored {
			m.branch(d.text, a.Replaces)
		}
	}
	m.acknowledge(d, a)
	if crash {
		return a
	}
	switch a.Kind {
	case Diverge, Pull:
		m.False(d.live, "a live file was changed")
		d.text = c.main
	case Create, Push, Rewrite, Idle:
	default:
		return a
	}
	d.base, d.added = new(d.text), false
	return a
}

// common returns how many bytes two texts have in common at their beginning.
func common(a, b history) (n int) {
	for _, r := range a {
		if !strings.HasPrefix(string(b[n:]), string(r)) {
			break
		}
		n += utf8.RuneLen(r)
	}
	return n
}

// acknowledge notes the lines that are safe when a sync has returned.
func (m *model) acknowledge(d *replica, a Action) {
	if a.Kind == Behind {
		return
	}
	for _, line := range string(d.text) {
		m.synced[line] = true
	}
}

// branch adds a branch. No other one that is listed then is its beginning.
func (m *model) branch(h history, replaces []string) {
	id := fmt.Sprint("b-", h.tip().Hash)
	kept := m.cloud.branches[:0:0]
	for _, b := range m.cloud.branches {
		continued := strings.HasPrefix(string(h), string(m.cloud.texts[b.ID]))
		m.Equal(continued, slices.Contains(replaces, b.ID), "the branches that one replaces are those that it continues")
		m.False(strings.HasPrefix(string(m.cloud.texts[b.ID]), string(h)), "no branch has these lines already")
		if !continued {
			kept = append(kept, b)
		}
	}
	m.cloud.branches = append(kept, Branch{id, h.tip(), h.has})
	m.cloud.texts[id] = h
}

// reachable is all lines that can be read from the cloud.
func (m *model) reachable() map[rune]bool {
	all := string(m.cloud.main)
	for _, h := range m.cloud.old {
		all += string(h)
	}
	for _, b := range m.cloud.branches {
		all += string(m.cloud.texts[b.ID])
	}
	lines := map[rune]bool{}
	for _, l := range all {
		lines[l] = true
	}
	return lines
}

func (m *model) step() {
	d := m.devices[m.r.IntN(len(m.devices))]
	switch m.r.IntN(10) {
	case 0, 1, 2, 3:
		m.edit(d)
	case 4:
		d.live = !d.live
	case 5:
		if m.r.IntN(3) == 0 {
			d.base = nil
		}
	default:
		m.sync(d, m.r.IntN(8) == 0)
	}
}

// TestRandomHistories: what a sync acknowledged can always be read; once all
// devices have synced without changes between, all have the same.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	kinds := map[Kind]int{}
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+*seedCount; seed++ {
		m := &model{
			Assertions: require.New(t), r: rand.New(rand.NewPCG(seed, 0)), next: 0x4e00,
			policy: Policy(seed % 3), synced: map[rune]bool{}, cloud: cloud{texts: map[string]history{}},
		}
		for i := range 2 + m.r.IntN(4) {
			m.devices = append(m.devices, &replica{name: fmt.Sprintf("%08x", i)})
		}
		for range 60 {
			m.step()
		}
		for range 3 {
			for _, d := range m.devices {
				d.live = false
				kinds[m.sync(d, false).Kind]++
			}
		}
		have := m.reachable()
		for line := range m.synced {
			require.True(testenv.Lost(t), have[line], "seed %d: line %d was lost", seed, line-0x4e00)
		}
		for _, d := range m.devices {
			m.Equal(m.cloud.main, d.text, "seed %d: device %s", seed, d.name)
			m.Equal(Idle, m.sync(d, false).Kind, "seed %d", seed)
		}
	}
	t.Logf("seeds %d to %d: %v", begin, begin+*seedCount-1, kinds)
}
