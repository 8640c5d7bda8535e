package decimal

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPython reads, compares and adds numbers of which testdata tells what the
// decimal module of Python 3.11 made of them.
func TestPython(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/python.json")
	require.NoError(t, err)
	var cases []struct {
		Texts   []string
		Numbers []*string
		Sum     string
		Order   []int
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		var before *Number
		total, order := Number{}, []int{}
		for i, text := range c.Texts {
			n, ok := Parse(text)
			require.Equal(t, c.Numbers[i] != nil, ok, "%q", text)
			if !ok {
				before = nil
				continue
			}
			require.Equal(t, *c.Numbers[i], n.String(), "%q", text)
			if before != nil {
				order = append(order, before.Compare(n))
			}
			before = &n
			if err == nil {
				total, err = Add(total, n)
			}
		}
		sum := total.String()
		if err != nil {
			require.ErrorIs(t, err, ErrOverflow)
			sum, err = "overflow", nil
		}
		require.Equal(t, c.Sum, sum, "%q", c.Texts)
		require.Equal(t, c.Order, order, "%q", c.Texts)
	}
}

// TestLongTexts adds numbers of a million digits and with huge exponents: no
// step takes more than the digits that are there.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	long, ok := Parse("0." + strings.Repeat("3", 1_000_000))
	require.True(t, ok)
	sum, err := Add(long, long)
	require.NoError(t, err)
	require.Equal(t, "0."+strings.Repeat("6", 27)+"7", sum.String())
	tiny, ok := Parse("1e-900000")
	require.True(t, ok)
	huge, ok := Parse("1e900000")
	require.True(t, ok)
	sum, err = Add(huge, tiny)
	require.NoError(t, err)
	require.Equal(t, "1.000000000000000000000000000E+900000", sum.String())
	require.Equal(t, 1, huge.Compare(tiny))
}

func FuzzParse(f *testing.F) {
	f.Add("0.10", "1e30")
	f.Add("-0", "٣.٥")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := Parse(a)
		y, ok2 := Parse(b)
		if !ok || !ok2 || len(a)+len(b) > 4096 {
			return
		}
		again, ok := Parse(x.String())
		require.True(t, ok)
		require.Equal(t, x, again)
		require.Equal(t, -y.Compare(x), x.Compare(y))
		sum, err := Add(x, y)
		other, err2 := Add(y, x)
		require.Equal(t, err, err2)
		require.Equal(t, sum, other)
		if err == nil {
			require.LessOrEqual(t, len(sum.digits), precision)
		}
	})
}
