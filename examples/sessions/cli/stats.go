package cli

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

type statsCommand struct {
	everywhere
	By     string `enum:"day,model,project,session" default:"day" placeholder:"WHAT" help:"Add up by day, model, project or session (default: day)."`
	After  string `aliases:"since" placeholder:"DATE" help:"Only sessions created after this date, as 2026-08-01, 7d or yesterday; --since is the same."`
	Before string `placeholder:"DATE" help:"Only sessions created before this date."`
	UTC    bool   `help:"Days are days in UTC, not here, also those of flags."`
	CSV    bool   `help:"Write comma-separated values."`
}

// Help is shown below the usage.
func (statsCommand) Help() string {
	return `Tells what models used: tokens, costs as the providers' prices in the logs say, time, and calls of tools. A response counts once, also where forks and copies of sessions tell of it again. What an imported session used in its own tool counts for the day on which it began. "*" marks a row with responses that no id identifies; they are told apart by time and size. In a pipe every line has the columns what, responses, input, cached, output, reasoning, tools, seconds and cost, separated by tabs.

    sessions stats --since 30d
    sessions stats --by model --csv >usage.csv`
}

// Run adds up.
func (c *statsCommand) Run(a *app) error {
	if c.CSV && a.json {
		return usageError{"--csv and --json: choose one"}
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	if c.UTC {
		now := a.now
		a.now = func() time.Time { return now().UTC() }
	}
	q := projects.Query{Days: a.now().Location()}
	if q.Project, err = c.existing(a, p, false); err != nil {
		return err
	}
	if q.After, err = a.date("after (--since)", c.After); err != nil {
		return err
	}
	if q.Before, err = a.date("before", c.Before); err != nil {
		return err
	}
	bar := a.Progress("reading", 0)
	all, skipped, err := c.sums(func(yield func(projects.Usage, error) bool) {
		for _, of := range []iter.Seq2[projects.Usage, error]{p.Usage(a.ctx, q), foreign.Usage(a.ctx, p, q)} {
			for u, err := range of {
				if !yield(u, err) {
					return
				}
			}
		}
	}, bar)
	bar.Done()
	if err != nil {
		return err
	}
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.warn(skipped)
	switch {
	case a.json:
		return a.writeJSON(usageOf(c.By, all))
	case c.CSV:
		return a.statsCSV(c.By, all)
	case len(all) == 0:
		a.Notef("No log tells what was used.")
		return nil
	}
	a.statsTable(c.By, all)
	return nil
}

// sum is the usage of a row, which key names.
type sum struct {
	key string
	eventslog.Usage
}

// sums adds up usage by the key that c.By names. Days come in their order, all others by
// the tokens that they used, the most first. skipped joins the errors of sessions that
// could not be read.
func (c *statsCommand) sums(usage func(func(projects.Usage, error) bool), bar *screen.Progress) (all []sum, skipped, err error) {
	sums := map[string]*sum{}
	for u, bad := range usage {
		if bad != nil {
			skipped = errors.Join(skipped, bad)
			continue
		}
		bar.Step(1)
		key := map[string]string{"day": u.Day, "model": u.Model, "project": u.Project, "session": u.Session}[c.By]
		if sums[key] == nil {
			sums[key] = &sum{key: key}
		}
		if err := sums[key].Add(u.Usage); err != nil {
			return nil, nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, *sums[key])
	}
	if c.By != "day" {
		slices.SortStableFunc(all, func(x, y sum) int { return cmp.Compare(y.tokens(), x.tokens()) })
	}
	return all, skipped, nil
}

func (s sum) tokens() int64 { return s.Input + s.CacheWrite + s.Output }

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

var statsTitles = []string{"responses", "input", "cached", "output", "reasoning", "tools", "seconds", "cost"}

func (a *app) statsCSV(by string, all []sum) error {
	w := csv.NewWriter(a)
	rows := [][]string{append([]string{by}, statsTitles...)}
	for _, s := range all {
		rows = append(rows, append([]string{screen.Plain(s.name())}, s.figures()...))
	}
	return w.WriteAll(rows)
}

// usageShown is the answer of stats.
type usageShown struct {
	By   string     `json:"by"`
	Rows []usageRow `json:"rows"`
}

type usageRow struct {
	Key        *string `json:"key"` // a day, model, project or session; null: unknown
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

func usageOf(by string, all []sum) usageShown {
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
	var most int64
	total := sum{key: "total"}
	for _, s := range all {
		most = max(most, s.tokens())
		if err := total.Add(s.Usage); err != nil {
			a.Notef("%v", err)
		}
	}
	shown := all
	if a.Terminal() && len(all) > 1 {
		shown = append(slices.Clone(all), total)
	}
	var rows [][]string
	for i, s := range shown {
		if !a.Terminal() {
			rows = append(rows, append([]string{s.name()}, s.figures()...))
			continue
		}
		name, chart := s.name(), ""
		if !s.Exact {
			name += " *"
		}
		if i < len(all) {
			chart = share(s.tokens(), most)
		}
		cost := ""
		if s.Priced > 0 {
			cost = "$" + cents(s.Cost)
		}
		rows = append(rows, []string{
			name, chart, number(s.Responses), amount(s.Input), amount(s.CacheRead), amount(s.Output), amount(s.Reasoning),
			number(s.Tools), s.Time.Round(time.Second).String(), cost,
		})
	}
	columns := []screen.Column{
		{Title: strings.ToUpper(by[:1]) + by[1:], Min: 16, Tint: screen.In(screen.Green)},
		{Title: "Tokens", Drop: 8, Tint: screen.In(screen.Cyan)},
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

// share is a bar for n, where most fills it.
func share(n, most int64) string {
	const width = 16
	if most == 0 {
		return ""
	}
	eighths := int(float64(n) / float64(most) * width * 8)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
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

// cents rounds a decimal text to two places after the point, or to four below
// ten cents.
func cents(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if f < 0.1 {
		return strconv.FormatFloat(f, 'f', 4, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}
