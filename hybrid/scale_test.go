package hybrid

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var writeScale = flag.Bool("scale", false, "write the table of the package documentation anew")

// scale is what one of each costs on the strict server.
type scale struct {
	turn, eventful, entry, look, resume, preview, restore, prune, again price
	session, merged                                                     stockOf // of 20 turns
	user                                                                float64 // bytes of an entry of the catalogue
}

// price is in request units and in bytes that stay.
type price struct{ units, bytes float64 }

// stockOf is what lies in a partition.
type stockOf struct{ documents, bytes float64 }

const (
	scaleTurns = 20 // a day
	scaleUsers = 1e6
	scaleHours = 8 // a day that a device is on
)

// prose is text that compresses like what people and models write.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		word := make([]byte, 2+r.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlcumwfgypbvk"[min(r.IntN(22), r.IntN(22))]
		}
		b.WriteString(string(word) + " ")
	}
	return b.String()[:n]
}

func (c *cloud) stockOf() (s stockOf) {
	for _, d := range c.Docs(testDatabase, testContainer) {
		if strings.HasPrefix(d.Partition, `["s-`) {
			s.documents++
			s.bytes += float64(len(d.Body))
		}
	}
	return s
}

// measureScale lets one user have a day.
func measureScale(t *testing.T) (m scale) {
	r := rand.New(rand.NewPCG(1, 1))
	c := newCloud(t, nil)
	a := c.device(t, "a")
	day := func(id string, events bool) (one price) {
		a.say(id, prose(r, 2000), prose(r, 2000))
		a.sync(id)
		context := ""
		before := c.stockOf()
		for range scaleTurns {
			time.Sleep(time.Second)
			a.say(id, prose(r, 2<<10), prose(r, 14<<10))
			if context += prose(r, 16<<10); events { // a request that repeats everything, as models are asked
				a.appendTo(id, "events.jsonl", fmt.Sprintf("{\"event\": \"llm:request\", \"data\": %q}\n", context))
			}
			c.ResetCounters()
			a.sync(id)
			n := c.Counters()
			one.units += (n.Total.Charge - n.ByKind["cat"].Charge) / scaleTurns
		}
		one.bytes = (c.stockOf().bytes - before.bytes) / scaleTurns
		return one
	}
	m.turn = day("s", false)
	m.session = c.stockOf()
	m.entry.units = c.Counters().ByKind["cat"].Charge // of the last turn's Sync
	for _, d := range c.Docs(testDatabase, testContainer) {
		if strings.HasPrefix(d.Partition, `["u-`) {
			m.user += float64(len(d.Body))
		}
	}
	c.ResetCounters()
	a.sync("s")
	m.resume.units = c.Counters().Total.Charge
	link := a.engine.Connect()
	for _, err := range link.Entries(t.Context(), a.engine.UID(), "", time.Now().Add(time.Second)) {
		require.NoError(t, err)
	}
	m.look.units = link.Usage().Units
	b := c.device(t, "b")
	c.ResetCounters()
	b.preview("s")
	m.preview.units = c.Counters().Total.Charge
	c.ResetCounters()
	b.pull("s")
	m.restore.units = c.Counters().Total.Charge
	c.ResetCounters()
	a.prune(nil, "s")
	time.Sleep(8 * 24 * time.Hour)
	a.prune(nil, "s")
	m.prune.units = c.Counters().Total.Charge
	m.merged = c.stockOf()
	c.ResetCounters()
	c.device(t, "c").pull("s")
	m.again.units = c.Counters().Total.Charge
	m.eventful = day("e", true)
	return m
}

// table is the measured numbers, and what follows from them.
func (m *scale) table() string {
	var b strings.Builder
	row := func(what string, columns ...string) {
		fmt.Fprintf(&b, "//\t%-52s", what)
		for _, c := range columns {
			fmt.Fprintf(&b, "%12s", c)
		}
		b.WriteString("\n")
	}
	kb := func(bytes float64) string { return fmt.Sprintf("%.1f KB", bytes/1024) }
	ru := func(units float64) string { return fmt.Sprintf("%.1f", units) }
	row("", "units", "stored")
	row("a turn of 16 KB", ru(m.turn.units), kb(m.turn.bytes))
	row("the same with an event that repeats the session", ru(m.eventful.units), kb(m.eventful.bytes))
	row("an entry of the catalogue, each Sync or 30 s", ru(m.entry.units), kb(m.user))
	row("a read of the catalogue, each Interval", ru(m.look.units))
	row("whether a session is what the remote has", ru(m.resume.units))
	row(fmt.Sprintf("a preview of a session of %d turns", scaleTurns), ru(m.preview.units))
	row(fmt.Sprintf("a restore of a session of %d turns", scaleTurns), ru(m.restore.units))
	row("its pruning, once", ru(m.prune.units))
	row("its restore after that", ru(m.again.units))
	row(fmt.Sprintf("all of it before, in %.0f documents", m.session.documents), "", kb(m.session.bytes))
	row(fmt.Sprintf("and after, in %.0f", m.merged.documents), "", kb(m.merged.bytes))
	b.WriteString("//\n")

	looks := func(each time.Duration) float64 { return float64(scaleHours*time.Hour/each) * m.look.units }
	perDay := func(turn price, each time.Duration) float64 {
		return scaleUsers * (scaleTurns*(turn.units+m.entry.units) + looks(each))
	}
	second := func(day float64) string { return fmt.Sprintf("%.0f", day/86400) }
	gb := func(turn price) string { return fmt.Sprintf("%.0f GB", scaleUsers*scaleTurns*30*turn.bytes/(1<<30)) }
	month := func(day float64) string { return fmt.Sprintf("%.0f", day*30/1e9) }
	row("", "units/s", "10⁹/month", "GB/month")
	for _, each := range []time.Duration{time.Minute, 10 * time.Minute} {
		minutes := fmt.Sprintf("%.0f min", each.Minutes())
		plain, eventful := perDay(m.turn, each), perDay(m.eventful, each)
		row("transcripts, Interval "+minutes, second(plain), month(plain), gb(m.turn))
		row("with events, Interval "+minutes, second(eventful), month(eventful), gb(m.eventful))
	}
	row("of these for reads of the catalogue each minute", second(scaleUsers*looks(time.Minute)), month(scaleUsers*looks(time.Minute)))
	b.WriteString("//\n")
	row("busiest partition: a session with a turn each 10 s", fmt.Sprintf("%.1f of 10000 units/s", m.eventful.units/10))
	row("a user's 20 GB of catalogue are full after, in sessions", fmt.Sprintf("%.0f million", (20<<30)/m.user/1e6))
	return b.String()
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// TestScale compares the table of the package documentation with what the
// strict server counts. With -args -scale it writes the table.
func TestScale(t *testing.T) {
	t.Parallel()
	var m scale
	synctest.Test(t, func(t *testing.T) { m = measureScale(t) })
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	const begin, end = "//\n//\t        ", "//\n// The "
	text := string(doc)
	from := strings.Index(text, begin) + len("//\n")
	to := from + strings.Index(text[from:], end)
	require.Greater(t, from, 2)
	require.Greater(t, to, from)
	got := m.table()
	if *writeScale {
		require.NoError(t, os.WriteFile("doc.go", []byte(text[:from]+got+text[to:]), 0o644))
		return
	}
	want := text[from:to]
	spaces := regexp.MustCompile(` +`)
	shape := func(s string) string { return spaces.ReplaceAllString(number.ReplaceAllString(s, "#"), " ") }
	require.Equal(t, shape(want), shape(got))
	for i, line := range strings.Split(want, "\n") {
		measured := number.FindAllString(strings.Split(got, "\n")[i], -1)
		for k, said := range number.FindAllString(line, -1) {
			x, err := strconv.ParseFloat(said, 64)
			require.NoError(t, err)
			y, err := strconv.ParseFloat(measured[k], 64)
			require.NoError(t, err)
			require.LessOrEqual(t, math.Abs(x-y), 0.1*y+0.1, "%s\nmeasured: %s", line, strings.Split(got, "\n")[i])
		}
	}
}
