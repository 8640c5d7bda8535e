package cli

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// blockLength is the time for which providers limit use: a block begins with the hour, in
// UTC, of the first response after the end of the block before it.
const blockLength = 5 * time.Hour

// begin returns the start of the block that begins with a response.
func begin(first time.Time) time.Time { return first.UTC().Truncate(time.Hour) }

// byTime is a key that orders usage by time.
func byTime(u projects.Usage) string { return u.At.Format("2006-01-02T15:04:05.000000000") }

// blocks adds up sums by time, which are in order, to blocks. Calls of tools are in the
// block of the response before them; usage without a time is in none.
func blocks(times []sum) (all []sum, err error) {
	for _, s := range times {
		n := len(all) - 1
		if s.Responses > 0 && !s.At.IsZero() && (n < 0 || s.At.After(begin(all[n].At).Add(blockLength))) {
			all = append(all, sum{key: begin(s.At).Format(time.RFC3339)})
			n++
		}
		if n < 0 { // before all others, without a time or without a response
			continue
		}
		if s.Responses > 0 {
			all[n].last = s.At
		}
		if err := all[n].Add(s.Usage); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// window is the time of a block. An active one has a pace if it has responses of
// several times, and costs if these have them.
type window struct {
	End             string  `json:"end"`
	Last            string  `json:"last"` // the last response so far
	Active          bool    `json:"active"`
	TokensPerMinute float64 `json:"tokens_per_minute,omitempty"` // between the first response and the last
	CostPerHour     float64 `json:"cost_per_hour,omitempty"`
	ProjectedTokens int64   `json:"projected_tokens,omitempty"` // at the end, if that pace goes on
	ProjectedCost   float64 `json:"projected_cost,omitempty"`
}

// window returns the time of a block, as it is now.
func (s sum) window(now time.Time) *window {
	end := begin(s.At).Add(blockLength)
	w := &window{End: end.Format(time.RFC3339Nano), Last: s.last.Format(time.RFC3339Nano), Active: now.Before(end)}
	if minutes := s.last.Sub(s.At).Minutes(); w.Active && minutes > 0 {
		left := math.Round(end.Sub(now).Minutes())
		cost, _ := strconv.ParseFloat(s.Cost, 64) // else it is not known
		w.TokensPerMinute, w.CostPerHour = float64(s.tokens())/minutes, cost/minutes*60
		w.ProjectedTokens = s.tokens() + int64(math.Round(w.TokensPerMinute*left))
		w.ProjectedCost = math.Round(100*(cost+cost/minutes*left)) / 100
	}
	return w
}

// active returns a line about the active block.
func active(blocks []sum, now time.Time) string {
	if len(blocks) == 0 || !blocks[len(blocks)-1].window(now).Active {
		return "no block"
	}
	s := blocks[len(blocks)-1]
	w, left := s.window(now), begin(s.At).Add(blockLength).Sub(now)
	text := fmt.Sprintf("block %s, %dh %02dm left", s.spent(), int(left.Hours()), int(left.Minutes())%60)
	if w.CostPerHour > 0 {
		text += fmt.Sprintf(", $%.2f/h, $%.2f at its end", w.CostPerHour, w.ProjectedCost)
	}
	return text
}

// spent is the cost and the tokens of a row, for the eye.
func (s sum) spent() string {
	text := amount(s.tokens()) + " tokens"
	if s.Priced > 0 {
		text = "$" + cents(s.Cost) + ", " + text
	}
	return text
}

// lookBack is the number of days before today that line reads at most.
const lookBack = 2

// line writes the usage of today and of the active block. It reads the logs that changed
// today or in the last five hours, and earlier ones only until it finds a pause of five
// hours: behind a pause a block begins whatever was before.
func (a *app) line(read func(projects.Query) iter.Seq2[projects.Usage, error], q projects.Query) error {
	now := a.now()
	midnight, _ := a.readTime("today")
	since := midnight
	if before := now.Add(-blockLength); before.Before(since) {
		since = before
	}
	var times, recent []sum
	var skipped, err error
	for days := 0; days == 0 || days <= lookBack && !pauses(recent, since, now); days++ {
		since = since.AddDate(0, 0, -min(days, 1))
		q.After = since.Add(-1) // which the query leaves out
		if times, skipped, err = sums(read(q), byTime); err == nil {
			recent, err = blocks(times)
		}
		if err = cmp.Or(err, a.ctx.Err()); err != nil {
			return err
		}
	}
	a.warn(skipped)
	var today sum
	for _, s := range times {
		if !s.At.Before(midnight) {
			if err := today.Add(s.Usage); err != nil {
				return err
			}
		}
	}
	a.Printf("today %s | %s\n", today.spent(), active(recent, now))
	return nil
}

// pauses reports whether nothing was used for five hours between two times.
func pauses(blocks []sum, from, to time.Time) bool {
	for _, s := range blocks {
		if s.At.Sub(from) > blockLength {
			return true
		}
		from = s.last
	}
	return to.Sub(from) >= blockLength
}
