package accept_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

func TestMendAnything(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](30, 100, 2000); seed++ {
		d := rowtest.Dealer{Rand: rand.New(rand.NewPCG(seed, 2))}
		checkMending(t, seed, parse(t, d.Rows(8)...), requireSpoken)
		checkMending(t, seed, parse(t, d.Talk(4)...))
	}
}

// FuzzFix takes any lines that are messages, and random ones.
func FuzzFix(f *testing.F) {
	f.Add(ask+"\n"+calling("c1")+"\n"+say, uint64(1))
	f.Add(using("c1")+"\n"+answering("c2", moreText), uint64(1))
	f.Add(`{"role": "assistant", "content": [{"type": "thinking", "content": [null, "rs_1"]}, "x", 5], "tool_calls": [{}]}`, uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		var msgs []sessionstore.Message
		for line := range strings.SplitSeq(text, "\n") {
			if m, err := sessionstore.ParseMessage([]byte(line)); err == nil && strings.Count(line, "[")+strings.Count(line, "{") < 500 {
				msgs = append(msgs, m)
			}
		}
		checkMending(t, seed, msgs)
		d := rowtest.Dealer{Rand: rand.New(rand.NewPCG(seed, 3))}
		checkMending(t, seed, parse(t, d.Rows(20)...), requireSpoken)
	})
}

// check is a further requirement of a mending.
type check func(t *testing.T, seed uint64, p accept.Provider, msgs, mended []sessionstore.Message)

func checkMending(t *testing.T, seed uint64, msgs []sessionstore.Message, more ...check) {
	t.Helper()
	before := slices.Clone(msgs)
	for _, p := range providers {
		refused := accept.Check(p, msgs)
		m := mend(t, p, msgs)
		if left := accept.Check(p, m.Messages); len(left) > 0 {
			require.Empty(t, left, "seed %d %v: %v -> %v", seed, p, lines(msgs), lines(m.Messages))
		}
		again := mend(t, p, m.Messages)
		require.Empty(t, again.Amendments, "seed %d %v", seed, p)
		if (len(refused) == 0) != (len(m.Amendments) == 0) {
			require.Fail(t, "changed what is accepted, or not what is refused", "seed %d %v: %v %v", seed, p, refused, lines(msgs))
		}
		require.Equal(t, lines(msgs), lines(given(m)), "seed %d %v", seed, p)
		requireUntouched(t, seed, p, msgs, m)
		for _, check := range more {
			check(t, seed, p, msgs, m.Messages)
		}
		for _, r := range refused {
			requireWithin(t, r, len(msgs))
		}
	}
	require.Equal(t, before, msgs, "the input was changed")
}

// given returns the messages that were given to Fix, byte for byte: the amendments say all
// that changed.
func given(m accept.Fixed) (msgs []sessionstore.Message) {
	next := 0
	for _, a := range m.Amendments {
		msgs = append(msgs, m.Messages[next:a.At]...)
		next = a.At
		if a.Kind != accept.Dropped {
			next++
		}
		if a.Kind != accept.Inserted {
			msgs = append(msgs, a.Old)
		}
	}
	return append(msgs, m.Messages[next:]...)
}

func requireWithin(t *testing.T, r accept.Refusal, n int) {
	t.Helper()
	require.True(t, r.Row >= 0 && r.Row < n && r.Other >= -1 && r.Other < n && r.Other != r.Row, "%+v", r)
	require.NotEmpty(t, r.String())
}

// requireUntouched requires that what is not amended is the same value, and
// that only the user's messages are dropped.
func requireUntouched(t *testing.T, seed uint64, p accept.Provider, msgs []sessionstore.Message, m accept.Fixed) {
	t.Helper()
	touched := map[int]bool{}
	for _, a := range m.Amendments {
		require.NotEmpty(t, a.Reasons, "seed %d %v %+v", seed, p, a)
		if a.Kind != accept.Inserted {
			touched[a.Row] = true
			require.Equal(t, msgs[a.Row], a.Old)
		}
		if a.Kind != accept.Dropped {
			require.Equal(t, m.Messages[a.At], a.New)
		} else {
			require.NotEqual(t, "assistant", a.Old.Role(), "seed %d %v", seed, p)
		}
	}
	for i, msg := range msgs {
		require.True(t, touched[i] || slices.Contains(m.Messages, msg), "seed %d %v", seed, p)
	}
}

// requireSpoken requires that every text and every call is still there.
func requireSpoken(t *testing.T, seed uint64, p accept.Provider, msgs, mended []sessionstore.Message) {
	t.Helper()
	after := strings.Join(lines(mended), "\n")
	all := strings.Join(lines(msgs), "\n")
	for _, text := range []string{`"hello"`, `"spoken"`, `"bare"`, `"untyped"`, `"one"`, `"name": "g"`} {
		require.LessOrEqual(t, countSpoken(all, text), strings.Count(after, text), "seed %d %v: %s\n%s\n->\n%s", seed, p, text, all, after)
	}
}

// countSpoken counts a text where it is one that must not be lost: not of a
// block in a message of the other role.
func countSpoken(all, text string) (n int) {
	for line := range strings.SplitSeq(all, "\n") {
		if text == `"name": "g"` && !strings.Contains(line, `"assistant"`) {
			continue
		}
		n += strings.Count(line, text)
	}
	return n
}
