package cli

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no time zones

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

type statsCommand struct {
	everywhere
	By     string `enum:"day,month,model,project,session,size" default:"day" placeholder:"WHAT" help:"Add up by day, month, model, project or session (default: day); or size: what projects take of the disk."`
	After  string `aliases:"since" placeholder:"DATE" help:"Only what was used after this date, as 2026-08-01, 7d or yesterday; --since is the same."`
	Before string `placeholder:"DATE" help:"Only what was used before this date."`
	TZ     string `placeholder:"ZONE" help:"Days and hours, also those of flags, are those of this time zone, as Europe/Berlin or UTC, and not of this machine's."`
	Line   bool   `help:"One line for a status bar: what was used today."`
}

// Help is shown below the usage.
func (statsCommand) Help() string {
	return `Tells what models used: tokens, costs as the providers' prices in the logs say, time, and calls of tools. A response counts once, also where forks and copies of sessions tell of it again. What an imported session used in its own tool counts at the time at which it began, and not in --line. "*" marks a row with responses that no id identifies; they are told apart by time and size. In a pipe every line has the columns what, responses, input, cached, output, reasoning, tools, seconds and cost, separated by tabs.

--by size tells instead how many bytes are sessions, logs, backups, kept histories, originals of imports and trash, and the command that frees each, "delete" and "cleanup" once the trash is emptied: in a pipe the columns project, session, what, bytes and command. "sessions list --sort size" tells it of sessions.

    sessions stats --by size
    sessions stats --since 30d --tz Europe/Berlin
    sessions stats --line`
}

// Run adds up.
func (c *statsCommand) Run(a *app) error {
	if c.Line && (a.json || c.After != "" || c.Before != "") {
		return usageError{"--line: it is text, of today; leave out --json, --after and --before"}
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	if c.TZ != "" {
		zone, err := time.LoadLocation(c.TZ)
		if err != nil {
			return usageError{fmt.Sprintf("--tz: no time zone is named %q; write a name as Europe/Berlin, or UTC", screen.Fit(c.TZ, 40))}
		}
		now := a.now
		a.now = func() time.Time { return now().In(zone) }
	}
	var q projects.Query
	if q.Project, err = c.existing(a, p, false); err != nil {
		return err
	}
	if q.After, err = a.date("after (--since)", c.After); err != nil {
		return err
	}
	if q.Before, err = a.date("before", c.Before); err != nil {
		return err
	}
	if c.By == "size" {
		if c.After != "" || c.Before != "" || c.TZ != "" || c.Line {
			return usageError{"--by size: it is what is there now; leave out --after, --before, --tz and --line"}
		}
		return a.sizes(p, q.Project, false, 0)
	}
	bar := a.Progress("reading", 0)
	defer bar.Done()
	read := func(q projects.Query) iter.Seq2[projects.Usage, error] {
		return func(yield func(projects.Usage, error) bool) {
			sources := []iter.Seq2[projects.Usage, error]{p.Usage(a.ctx, q), foreign.Usage(a.ctx, p, q)}
			if c.Line {
				sources = sources[:1] // the usage of a foreign tool has no times
			}
			for _, usage := range sources {
				for u, err := range usage {
					bar.Step(1)
					if !yield(u, err) {
						return
					}
				}
			}
		}
	}
	if c.Line {
		return a.line(read, q)
	}
	in := func(layout string) func(projects.Usage) string {
		return func(u projects.Usage) string {
			if u.At.IsZero() {
				return ""
			}
			return u.At.In(a.now().Location()).Format(layout)
		}
	}
	all, skipped, err := sums(read(q), map[string]func(projects.Usage) string{
		"day":     in(time.DateOnly),
		"month":   in("2006-01"),
		"model":   func(u projects.Usage) string { return u.Model },
		"project": func(u projects.Usage) string { return u.Project },
		"session": func(u projects.Usage) string { return u.Session },
	}[c.By])
	bar.Done()
	if err = cmp.Or(err, a.ctx.Err()); err != nil {
		return err
	}
	if c.By == "model" || c.By == "project" || c.By == "session" {
		slices.SortStableFunc(all, func(x, y sum) int { return cmp.Compare(y.tokens(), x.tokens()) })
	}
	a.warn(skipped)
	switch {
	case a.json:
		return a.writeJSON(a.usageOf(c.By, all))
	case len(all) == 0:
		a.Notef("No log says what was used. It is counted from the events.jsonl beside a transcript, which a host writes when it logs its events.")
		return nil
	}
	a.statsTable(c.By, all)
	return nil
}

// line writes the usage of today. It reads the logs that changed today.
func (a *app) line(read func(projects.Query) iter.Seq2[projects.Usage, error], q projects.Query) error {
	midnight, _ := a.readTime("today")
	q.After = midnight.Add(-1) // which the query leaves out
	all, skipped, err := sums(read(q), func(projects.Usage) string { return "" })
	if err = cmp.Or(err, a.ctx.Err()); err != nil {
		return err
	}
	a.warn(skipped)
	text := "0 tokens"
	if len(all) > 0 {
		text = all[0].spent()
	}
	a.Printf("today %s\n", text)
	return nil
}

// sum is the usage of a row, which key names.
type sum struct {
	key string
	eventslog.Usage
}

// sums adds up usage by its keys, in their order. skipped joins the errors of sessions that
// could not be read.
func sums(usage iter.Seq2[projects.Usage, error], key func(projects.Usage) string) (all []sum, skipped, err error) {
	sums := map[string]*sum{}
	for u, bad := range usage {
		if bad != nil {
			skipped = errors.Join(skipped, bad)
			continue
		}
		key := key(u)
		s := sums[key]
		if s == nil {
			s = &sum{key: key}
			sums[key] = s
		}
		if err := s.Add(u.Usage); err != nil {
			return nil, nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, *sums[key])
	}
	return all, skipped, nil
}

func (s sum) tokens() int64 { return s.Input + s.CacheWrite + s.Output }

// spent is the cost and the tokens of a row, for the eye.
func (s sum) spent() string {
	text := amount(s.tokens()) + " tokens"
	if s.Priced > 0 {
		text = "$" + web.Dollars(s.Cost) + ", " + text
	}
	return text
}

// name returns the key of a row, or "unknown" for a day or model that no event has.
func (s sum) name() string { return cmp.Or(s.key, "unknown") }

// figures are the columns of a row but the first, as programs read them.
func (s sum) figures() []string {
	cells := []string{strconv.Itoa(s.Responses)}
	for _, n := range []int64{s.Input, s.CacheRead, s.Output, s.Reasoning, int64(s.Tools)} {
		cells = append(cells, strconv.FormatInt(n, 10))
	}
	cost := s.Cost
	if s.Priced == 0 {
		cost = ""
	}
	return append(cells, strconv.FormatFloat(s.Time.Seconds(), 'f', 3, 64), cost)
}

// usageShown is the answer of stats.
type usageShown struct {
	By   string     `json:"by"`
	Rows []usageRow `json:"rows"`
}

type usageRow struct {
	Key        *string `json:"key"` // a day, month, model, project or session; null: unknown
	Responses  int     `json:"responses"`
	Failed     int     `json:"failed"`
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Reasoning  int64   `json:"reasoning_tokens"`
	Tools      int     `json:"tool_calls"`
	Seconds    float64 `json:"seconds"`
	Cost       *string `json:"cost_usd"` // a decimal number as text, which loses no digit; null: no response has it
	Exact      bool    `json:"exact"`
}

func (a *app) usageOf(by string, all []sum) usageShown {
	answer := usageShown{by, []usageRow{}}
	for _, s := range all {
		r := usageRow{
			Key: known(s.key), Responses: s.Responses, Failed: s.Failed, Input: s.Input, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite,
			Output: s.Output, Reasoning: s.Reasoning, Tools: s.Tools, Seconds: s.Time.Seconds(), Exact: s.Exact,
		}
		if s.Priced > 0 {
			r.Cost = &s.Cost
		}
		answer.Rows = append(answer.Rows, r)
	}
	return answer
}

func (a *app) statsTable(by string, all []sum) {
	total := sum{key: "total"}
	for _, s := range all {
		if err := total.Add(s.Usage); err != nil {
			a.Notef("%v", err)
		}
	}
	shown := all
	if a.Terminal() && len(all) > 1 {
		shown = append(slices.Clone(all), total)
	}
	place := func(key string) string { return key }
	if by == "project" && a.Terminal() {
		keys := make([]string, len(all))
		for i, s := range all {
			keys[i] = s.name()
		}
		place = a.places(keys)
	}
	var rows [][]string
	for _, s := range shown {
		if !a.Terminal() {
			rows = append(rows, append([]string{s.name()}, s.figures()...))
			continue
		}
		name := cmp.Or(place(s.name()), s.name())
		if !s.Exact {
			name += " *"
		}
		cost := ""
		if s.Priced > 0 {
			cost = "$" + web.Dollars(s.Cost)
		}
		rows = append(rows, []string{
			name, number(s.Responses), amount(s.Input), amount(s.CacheRead), amount(s.Output), amount(s.Reasoning),
			number(s.Tools), s.Time.Round(time.Second).String(), cost,
		})
	}
	columns := []screen.Column{
		{Title: strings.ToUpper(by[:1]) + by[1:], Min: 16, Tint: screen.In(screen.Green)},
		{Title: "Responses", Right: true, Drop: 2},
		{Title: "Input", Right: true},
		{Title: "Cached", Right: true, Drop: 3},
		{Title: "Output", Right: true},
		{Title: "Reasoning", Right: true, Drop: 6},
		{Title: "Tools", Right: true, Drop: 5},
		{Title: "Time", Right: true, Drop: 4},
		{Title: "Cost", Right: true},
	}
	a.Table(columns, rows)
	if a.Terminal() && !total.Exact {
		a.Printf("\n* has responses without an id, which are told apart by time and size.\n")
	}
}

// amount is n for the eye: 950, 12.3k, 4.5M.
func amount(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1fG", float64(n)/1e9)
}
