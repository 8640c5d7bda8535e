package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// usageRow is the usage under one key: a day or a model.
type usageRow struct {
	Key string
	eventslog.Usage
}

// Tokens returns the tokens that are billed.
func (u usageRow) Tokens() int64 { return u.Input + u.CacheWrite + u.Output }

// usageSums adds up usage by day and by model. Days come in their order, models by the
// tokens that they used. With an error it returns the sums of all that could be read.
func usageSums(all iter.Seq2[eventslog.Usage, error]) (days, models []usageRow, err error) {
	byDay, byModel := map[string]*usageRow{}, map[string]*usageRow{}
	for u, bad := range all {
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		day := "unknown"
		if !u.At.IsZero() {
			day = u.At.Local().Format(time.DateOnly)
		}
		err = errors.Join(err, addUsage(byDay, day, u), addUsage(byModel, cmp.Or(u.Model, "unknown"), u))
	}
	days = sortedUsage(byDay)
	models = sortedUsage(byModel)
	slices.SortStableFunc(models, func(a, b usageRow) int { return cmp.Compare(b.Tokens(), a.Tokens()) })
	return days, models, err
}

func addUsage(sums map[string]*usageRow, key string, u eventslog.Usage) error {
	if sums[key] == nil {
		sums[key] = &usageRow{Key: key}
	}
	return sums[key].Add(u)
}

func sortedUsage(sums map[string]*usageRow) (rows []usageRow) {
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		rows = append(rows, *sums[key])
	}
	return rows
}

// plot is a drawing of the tokens of days.
type plot struct {
	Width, Height int
	Bars          []bar
	Most          int64  // tokens of the highest bar
	From, To      string // the days of the first bar and the last
}

// bar is the bar of a day. The output is drawn on top of the input.
type bar struct {
	X, Width          float64
	Y, Height         float64 // of the input
	OutputY           float64
	OutputHeight      float64
	Day               string
	Input, OutputText string
}

// Measures of a plot in the units of its view box.
const (
	plotWidth  = 720
	plotHeight = 160
	plotDays   = 60 // at most, the last ones
	fewestDays = 14 // at least; the days before the first are empty
)

// plotOf draws days that are in order. A day without use has its place and no bar.
func plotOf(days []usageRow) plot {
	p := plot{Width: plotWidth, Height: plotHeight}
	known := map[string]usageRow{}
	var last time.Time
	first := ""
	for _, d := range days {
		at, err := time.Parse(time.DateOnly, d.Key)
		if err != nil {
			continue // the day is unknown
		}
		known[d.Key], last, first = d, at, cmp.Or(first, d.Key)
	}
	if len(known) == 0 {
		return p
	}
	from, _ := time.Parse(time.DateOnly, first) // was parsed above
	if oldest := last.AddDate(0, 0, 1-plotDays); from.Before(oldest) {
		from = oldest
	}
	if newest := last.AddDate(0, 0, 1-fewestDays); from.After(newest) {
		from = newest
	}
	p.From, p.To = from.Format(time.DateOnly), last.Format(time.DateOnly)
	count := 0
	for at := from; !at.After(last); at = at.AddDate(0, 0, 1) {
		count++
		p.Most = max(p.Most, known[at.Format(time.DateOnly)].Tokens())
	}
	step := float64(plotWidth) / float64(count)
	for i := range count {
		d, ok := known[from.AddDate(0, 0, i).Format(time.DateOnly)]
		if ok && p.Most > 0 {
			p.Bars = append(p.Bars, barOf(d, (float64(i)+0.1)*step, step*0.8, p.Most))
		}
	}
	return p
}

func barOf(d usageRow, x, width float64, most int64) bar {
	high := func(n int64) float64 { return float64(n) / float64(most) * plotHeight }
	b := bar{X: x, Width: width, Height: high(d.Input + d.CacheWrite), OutputHeight: high(d.Output), Day: d.Key}
	b.Y = plotHeight - b.Height
	b.OutputY = b.Y - b.OutputHeight
	b.Input, b.OutputText = countText(d.Input+d.CacheWrite), countText(d.Output)
	return b
}

// countText returns a number with its thousands apart.
func countText(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// usage shows the usage of the sessions of a project, or of all.
func (s *Server) usage(w http.ResponseWriter, r *request) error {
	data := map[string]any{"Title": "Usage", "Path": "/"}
	project := ""
	if r.at != nil {
		project = r.at.name
		data["Dir"], data["Path"], data["All"] = s.places.dir(r.Context(), project), pathOf(project, ""), s.places.projects != nil
	}
	if err := s.searching(r.Context()); err != nil {
		return err
	}
	defer func() { <-s.searches }()
	days, models, err := usageSums(s.places.usage(r.Context(), project))
	if r.Context().Err() != nil {
		return r.Context().Err()
	}
	data["Days"], data["Models"], data["Plot"] = days, models, plotOf(days)
	if err != nil {
		data["Damage"] = "Some sessions could not be read whole: what is lacking is not counted here."
		s.logger.Warn("read usage", "err", err)
	}
	return s.page(w, "usage.html", data)
}

// usage yields the usage of a project; "" means all.
func (p *Places) usage(ctx context.Context, project string) iter.Seq2[eventslog.Usage, error] {
	if p.projects == nil {
		return p.usageOfOne(ctx)
	}
	return func(yield func(eventslog.Usage, error) bool) {
		for u, err := range p.projects.Usage(ctx, projects.Query{Project: project}) {
			if !yield(u.Usage, err) {
				return
			}
		}
	}
}

// usageOfOne yields the usage of the one sessions directory.
func (p *Places) usageOfOne(ctx context.Context) iter.Seq2[eventslog.Usage, error] {
	return func(yield func(eventslog.Usage, error) bool) {
		p.mu.Lock()
		places := slices.Collect(maps.Values(p.open))
		p.mu.Unlock()
		counted := new(eventslog.Counted)
		for _, at := range places {
			infos, err := at.store.List(ctx, &sessionstore.ListOptions{All: true})
			if err != nil {
				yield(eventslog.Usage{}, err)
				return
			}
			slices.Reverse(infos) // the oldest first: a fork repeats the usage of its parent
			for _, info := range infos {
				if !usageOf(ctx, at.cache.unkept(info.ID), counted, yield) {
					return
				}
			}
		}
	}
}

// usageOf yields the usage in the newer tools' log of a session, or else in the other
// log, and reports whether to go on.
func usageOf(ctx context.Context, r *readings, counted *eventslog.Counted, yield func(eventslog.Usage, error) bool) bool {
	log, err := r.log(r.logs()[1] >= 0)
	if err != nil {
		return yield(eventslog.Usage{}, err)
	}
	for u, err := range log.Usage(ctx, counted) {
		if err != nil {
			err = fmt.Errorf("read usage of session %s: %w", r.id, err)
		}
		if !yield(u, err) {
			return false
		}
	}
	return true
}

// Dollars rounds a decimal text to two places after the point, or to four below ten cents.
func Dollars(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return text
	case f < 0.1:
		return strconv.FormatFloat(f, 'f', 4, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}
