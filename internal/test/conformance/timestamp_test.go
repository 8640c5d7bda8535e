package conformance

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// timeCase is a time, read in the three ways of the reference.
type timeCase struct {
	Input       string
	ISO         string `json:"isoformat"`
	Aware       bool
	UnixMicro   int64   `json:"utc_unix_us"`
	Offset      float64 `json:"utcoffset_s"`
	Error       *failure
	Created     *string  `json:"find_created_isoformat"`
	Filter      string   `json:"date_filter_isoformat"`
	FilterError *failure `json:"date_filter_error"`
}

// times are the readings; a naive time has no place among all times.
type times struct {
	ISO, Failed  string
	Aware        bool
	UnixMicro    int64
	Offset       float64
	Created      string // empty: none
	Filter       string
	FilterFailed bool // in words of Python's
}

func (c timeCase) run(t *testing.T) verdict {
	reference := times{
		ISO: c.ISO, Aware: c.Aware, UnixMicro: c.UnixMicro, Offset: c.Offset,
		Filter: c.Filter, FilterFailed: c.FilterError != nil,
	}
	if c.Error != nil {
		reference.Failed = c.Error.Message
	}
	if c.Created != nil {
		reference.Created = *c.Created
	}
	return equal(reference, c.ours(t))
}

func (c timeCase) ours(t *testing.T) (o times) {
	t.Helper()
	at, aware, err := pytime.Parse(c.Input)
	switch {
	case err != nil:
		o.Failed = err.Error()
	case aware:
		o.ISO, o.Aware, o.UnixMicro = pytime.Format(at), true, at.UnixMicro()
		o.Offset = float64(wall(t, o.ISO).UnixMicro()-o.UnixMicro) / 1e6
	default:
		o.ISO = strings.TrimSuffix(pytime.Format(at), "+00:00")
	}
	if at, ok := pytime.ParseCreated(c.Input); ok {
		o.Created = pytime.Format(at)
	}
	at, err = pytime.ParseFilter(c.Input)
	if o.FilterFailed = err != nil; err == nil {
		o.Filter = pytime.Format(at)
	}
	return o
}

// wall is what a clock shows at a time with an offset, as if it were in UTC.
func wall(t *testing.T, iso string) time.Time {
	t.Helper()
	day, clock, _ := strings.Cut(iso, "T")
	clock = clock[:strings.IndexAny(clock, "+-")]
	at, err := time.Parse(time.DateOnly+"T15:04:05.999999", day+"T"+clock)
	require.NoError(t, err)
	return at
}
