package pytime

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type pythonError struct{ Message string }

type vector struct {
	Name        string
	Input       string
	ISO         string `json:"isoformat"`
	Aware       bool
	UnixMicro   int64   `json:"utc_unix_us"`
	Offset      float64 `json:"utcoffset_s"`
	Error       *pythonError
	Created     *string      `json:"find_created_isoformat"`
	Filter      *string      `json:"date_filter_isoformat"`
	FilterError *pythonError `json:"date_filter_error"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../testdata/golden/parse_timestamp.json")
	require.NoError(t, err)
	var vectors []vector
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.Len(t, vectors, 57)

	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			checkParse(t, v)
			checkCreated(t, v)
			checkFilter(t, v)
		})
	}
}

func checkParse(t *testing.T, v vector) {
	got, aware, err := Parse(v.Input)
	if v.Error != nil {
		require.EqualError(t, err, v.Error.Message)
		return
	}
	require.NoError(t, err)
	require.Equal(t, v.Aware, aware)
	require.Equal(t, v.ISO, isoformat(got, aware))
	if aware {
		require.Equal(t, v.UnixMicro, got.UnixMicro())
		require.InDelta(t, v.Offset, offsetOf(got).Seconds(), 0)
	}
}

func checkCreated(t *testing.T, v vector) {
	got, ok := ParseCreated(v.Input)
	require.Equal(t, v.Created != nil, ok)
	if ok {
		require.Equal(t, *v.Created, Format(got))
	}
}

func checkFilter(t *testing.T, v vector) {
	got, err := ParseFilter(v.Input)
	if v.FilterError == nil {
		require.NoError(t, err)
		require.Equal(t, *v.Filter, Format(got))
		return
	}
	require.Error(t, err)
	if errors.Is(err, errOffset) {
		require.Contains(t, v.FilterError.Message, "offset must be")
		return
	}
	reason := errors.Unwrap(err).Error()
	require.Contains(t, strings.ToLower(v.FilterError.Message), reason)
}

// isoformat writes a time as Python does, without an offset when it is naive.
func isoformat(t time.Time, aware bool) string {
	if aware {
		return Format(t)
	}
	return strings.TrimSuffix(Format(t), "+00:00")
}
