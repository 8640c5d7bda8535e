package index

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// Lines of the made-up transcripts of these tests: "u" begins a turn, "p" is a
// prompt that does, "c ID" calls, "r ID" answers, "x" is damaged, "2 " holds
// two messages, and an empty line none. Anything may follow.
func parseLine(line jsonl.Line, keep func(Row)) error {
	text := string(line.Bytes)
	kind, rest, _ := strings.Cut(text, " ")
	id, _, _ := strings.Cut(rest, " ")
	row := Row{Text: func() bool { return rest != "" }, Sum: xxh3.Hash128(line.Bytes)}
	switch kind {
	case "":
		return nil
	case "x":
		return fmt.Errorf("damaged")
	case "u", "p":
		row.Begins, row.Prompt = true, kind == "p"
		row.Pictures = Pictures{Pictures: len(rest) % 3, Side: len(rest)}
	case "c":
		row.Assistant, row.IDs = true, []turns.Key{{ID: id, Named: true}}
	case "r":
		row.IDs = []turns.Key{{ID: id, Named: true}}
	case "2":
		row.Begins = true
		keep(row)
	}
	keep(row)
	return nil
}

// randomLine returns a line, now and then one of several blocks.
func randomLine(r *rand.Rand) string {
	kinds := []string{"u", "p", "p hello", "m", "m", "m", "2", "", fmt.Sprintf("c %d", r.IntN(50)), fmt.Sprintf("r %d", r.IntN(50))}
	kind := kinds[r.IntN(len(kinds))]
	if kind == "" {
		return "\n"
	}
	size := r.IntN(3000)
	if r.IntN(60) == 0 {
		size = r.IntN(4 * BlockSize)
	}
	return kind + " " + strings.Repeat("z", size) + "\n"
}

func randomText(r *rand.Rand, lines int) []byte {
	var b bytes.Buffer
	for range lines {
		b.WriteString(randomLine(r))
	}
	if r.IntN(8) == 0 {
		b.WriteString("u without end")
	}
	return b.Bytes()
}

// TestAgainstScan compares indexes, made at once and bit by bit, with what a
// walk over all lines finds.
func TestAgainstScan(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for range testenv.Share(5, 8, 60) {
		text := randomText(r, r.IntN(600))
		x, err := Build(t.Context(), bytes.NewReader(text), parseLine)
		require.NoError(t, err)
		checkRows(t, r, x, text)
		for range 3 {
			more := append(bytes.Clone(text), randomText(r, r.IntN(200))...)
			grown, err := x.Extend(t.Context(), bytes.NewReader(more), parseLine)
			fresh, ferr := Build(t.Context(), bytes.NewReader(more), parseLine)
			require.NoError(t, ferr)
			if !x.Ended || !x.full {
				require.ErrorIs(t, err, ErrOther)
				grown = fresh
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, fresh, grown)
			if end, err := x.ExtendEnd(t.Context(), bytes.NewReader(more), int64(len(more)), parseLine); err == nil {
				require.Equal(t, fresh, end)
			} else {
				require.ErrorIs(t, err, ErrOther)
				require.False(t, x.Ended && x.full)
			}
			read, err := ParseRows(grown.Encode())
			require.NoError(t, err)
			require.Equal(t, grown.Encode(), read.Encode())
			checkRows(t, r, read, more)
			last := append(bytes.Clone(more), randomText(r, r.IntN(100))...)
			want, werr := grown.Extend(t.Context(), bytes.NewReader(last), parseLine)
			before := read.Encode()
			for _, extend := range []func() (*Rows, error){
				func() (*Rows, error) { return read.Extend(t.Context(), bytes.NewReader(last), parseLine) },
				func() (*Rows, error) {
					return read.ExtendEnd(t.Context(), bytes.NewReader(last), int64(len(last)), parseLine)
				},
			} {
				got, err := extend()
				require.Equal(t, werr, err)
				if err == nil {
					require.Equal(t, want.Encode(), got.Encode())
					checkRows(t, r, got, last)
				}
				require.Equal(t, before, read.Encode(), "it is not changed")
			}
			x, text = grown, more
		}
	}
}

// TestWholeBlocks goes on after a transcript that ends where a block does.
func TestWholeBlocks(t *testing.T) {
	t.Parallel()
	text := []byte("u hello " + strings.Repeat("z", 2*BlockSize-9) + "\n")
	x, err := Build(t.Context(), bytes.NewReader(text), parseLine)
	require.NoError(t, err)
	read, err := ParseRows(x.Encode())
	require.NoError(t, err)
	for _, more := range []string{"", "m 1\n", "m 1\n" + strings.Repeat("u\n", BlockSize)} {
		all := append(bytes.Clone(text), more...)
		fresh, err := Build(t.Context(), bytes.NewReader(all), parseLine)
		require.NoError(t, err)
		for _, from := range []*Rows{x, read} {
			grown, err := from.ExtendEnd(t.Context(), bytes.NewReader(all), int64(len(all)), parseLine)
			require.NoError(t, err)
			require.Equal(t, fresh.Encode(), grown.Encode())
		}
	}
}

// found is a message that a scan found.
type found struct {
	text   string
	turn   int
	prefix Prefix // up to it
}

func scanAll(t *testing.T, text []byte) (all []found, facts Facts) {
	turn, open, prefix := 0, map[string]bool{}, Prefix{}
	for line := range jsonl.Lines(text) {
		require.NoError(t, parseLine(line, func(row Row) {
			if row.Begins {
				turn++
			}
			if row.Prompt {
				facts.Prompts++
			}
			for _, k := range row.Calls() {
				open[k.ID] = true
			}
			for _, k := range row.Results() {
				if !open[k.ID] {
					facts.Refused++
				}
				delete(open, k.ID)
			}
			facts.Pictures.Pictures, facts.Side = facts.Pictures.Pictures+row.Pictures.Pictures, max(facts.Side, row.Side)
			prefix = prefix.Plus(row.Sum)
			all = append(all, found{string(line.Bytes), turn, prefix})
		}))
	}
	facts.Size, facts.Messages, facts.Turns, facts.Unanswered = int64(len(text)), len(all), turn, len(open)
	return all, facts
}

func checkRows(t *testing.T, r *rand.Rand, x *Rows, text []byte) {
	t.Helper()
	all, facts := scanAll(t, text)
	facts.Prompt = x.Prompt
	require.Equal(t, facts, x.Facts)
	counted, err := Count(text, parseLine)
	require.NoError(t, err)
	require.Equal(t, x.Facts, counted)
	for range min(20, len(all)) {
		n := 1 + r.IntN(len(all))
		require.Equal(t, all[n-1], readOne(t, x, text, x.At(n, 0), func(number, _ int) bool { return number == n }))
		if turn := all[n-1].turn; turn > 0 {
			got := readOne(t, x, text, x.At(0, turn), func(_, is int) bool { return is == turn })
			require.Equal(t, turn, got.turn)
		}
	}
	checkLines(t, x, text)
	if len(text) >= LargeFrom {
		require.Less(t, len(x.Encode())+MaxEntry, len(text)/200)
	}
}

// checkLines reads all lines by the index.
func checkLines(t *testing.T, x *Rows, text []byte) {
	t.Helper()
	lines, rows, turns := x.Lines(bytes.NewReader(text), Place{}), 0, 0
	for want := range jsonl.Lines(text) {
		toRow, toTurn, long, err := lines.Long()
		require.NoError(t, err)
		got, own, err := lines.Next()
		require.NoError(t, err)
		require.Equal(t, long, own)
		require.Equal(t, long, !want.Ended || want.Offset/BlockSize != (want.Offset+int64(len(want.Bytes)))/BlockSize)
		got.Number = want.Number
		require.Equal(t, want, got)
		require.NoError(t, parseLine(want, func(row Row) {
			rows++
			if row.Begins {
				turns++
			}
		}))
		if long {
			require.Equal(t, []int{rows, turns}, []int{toRow, toTurn})
		}
	}
	_, _, err := lines.Next()
	require.ErrorIs(t, err, io.EOF)
}

// readOne returns the first message from a place on that want wants.
func readOne(t *testing.T, x *Rows, text []byte, from Place, want func(number, turn int) bool) (is found) {
	t.Helper()
	lines := x.Lines(bytes.NewReader(text), from)
	number, turn, prefix, done := from.Rows, from.Turns, from.Prefix, false
	for !done {
		line, _, err := lines.Next()
		require.NoError(t, err)
		require.NoError(t, parseLine(line, func(row Row) {
			number++
			prefix = prefix.Plus(row.Sum)
			if row.Begins {
				turn++
			}
			if !done && want(number, turn) {
				is, done = found{string(line.Bytes), turn, prefix}, true
			}
		}))
	}
	return is
}

// TestOther hands an index transcripts that begin in another way.
func TestOther(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	text := append(randomText(r, 300), "\n"...)
	x, err := Build(t.Context(), bytes.NewReader(text), parseLine)
	require.NoError(t, err)
	for range testenv.Share(100, 1000, 50_000) {
		at := r.IntN(len(text))
		was := text[at]
		text[at] ^= 1 << r.IntN(8)
		_, err := x.Extend(t.Context(), bytes.NewReader(text), parseLine)
		require.ErrorIs(t, err, ErrOther)
		from := min(int64(at)/BlockSize*BlockSize, x.Size)
		_, _, err = x.Lines(bytes.NewReader(text), Place{Offset: from}).Next()
		require.ErrorIs(t, err, ErrOther)
		if last := x.Size / BlockSize * BlockSize; int64(at) >= last && int64(at) < x.Size {
			_, err = x.ExtendEnd(t.Context(), bytes.NewReader(text), int64(len(text)), parseLine)
			require.ErrorIs(t, err, ErrOther)
		}
		require.Less(t, wholeLines(t, x, text), at/BlockSize*BlockSize+1)
		text[at] = was
	}
	_, err = x.Extend(t.Context(), bytes.NewReader(text[:len(text)-1]), parseLine)
	require.ErrorIs(t, err, ErrOther)
}

// wholeLines reads lines until one is another than the index knows, and returns
// where that begins.
func wholeLines(t *testing.T, x *Rows, text []byte) (end int) {
	lines := x.Lines(bytes.NewReader(text), Place{})
	for {
		line, _, err := lines.Next()
		if err != nil {
			require.ErrorIs(t, err, ErrOther)
			return end
		}
		end = int(line.Offset) + len(line.Bytes) + 1
	}
}

// TestFlips flips bits of the files: none of them is read then, or panics.
func TestFlips(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	x, err := Build(t.Context(), bytes.NewReader(randomText(r, 500)), parseLine)
	require.NoError(t, err)
	x.ID, x.Seen = "s", Seen{stampOf(1), true}
	s := Shard{"s": {ID: "s", Facts: x.Facts, Prompt: "hello", HasMetadata: true, About: About{Name: "n"}}, "t": {ID: "t"}}
	rows, shard := x.Encode(), s.Encode()
	noted := stampOf(x.Size)
	copy(rows, noteIn(rows, "s", Append{Was: x.Seen.Stamp, Now: noted}))
	for range testenv.Share(1_000, 10_000, 100_000) {
		for _, file := range [][]byte{rows, shard} {
			at, bit := r.IntN(len(file)), byte(1)<<r.IntN(8)
			file[at] ^= bit
			is, rerr := ParseRows(file)
			_, serr := ParseShard(file)
			if at < noteSize && rerr == nil { // the note counts as none
				require.False(t, is.Begins(noted))
				require.False(t, is.Begins(is.appended))
			} else {
				require.Error(t, rerr)
			}
			require.Error(t, serr)
			file[at] ^= bit
			cut := r.IntN(len(file))
			_, rerr = ParseRows(file[:cut])
			_, serr = ParseShard(file[:cut])
			require.Error(t, rerr)
			require.Error(t, serr)
		}
	}
	got, err := ParseShard(shard)
	require.NoError(t, err)
	require.Equal(t, s.Encode(), got.Encode())
}

// stampOf returns the stamp of a transcript of that size.
func stampOf(size int64) vfs.Stamp {
	at := time.Date(2026, 11, 23, 12, 0, 0, int(size%1e9), time.UTC)
	return vfs.Stamp{Dev: 1, Inode: 2, Size: size, Mtime: at, Ctime: at.Add(time.Millisecond)}
}

// TestNotes notes appends one after the other.
func TestNotes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("u hello\n", 100)
	x, err := Build(t.Context(), strings.NewReader(text), parseLine)
	require.NoError(t, err)
	x.ID, x.Seen = "s", Seen{stampOf(x.Size), true}
	file := x.Encode()
	begins := func(now vfs.Stamp) bool {
		is, err := ParseRows(file)
		require.NoError(t, err)
		require.True(t, is.Fits(x.Seen.Stamp))
		return is.Begins(now)
	}
	require.False(t, begins(stampOf(900)))
	was := x.Seen.Stamp
	for size := x.Size + 1; size < 1_000; size += 10 {
		now := stampOf(size)
		a := Append{Was: was, Now: now}
		for _, note := range [][]byte{
			noteIn(file, "other", a), noteIn(file, "s", Append{Was: stampOf(7), Now: now}), noteIn(file[:noteSize+5], "s", a), noteIn(nil, "s", a),
		} {
			require.Nil(t, note)
		}
		copy(file, noteIn(file, "s", a))
		require.True(t, begins(now))
		require.False(t, begins(was), "it is what the transcript was before")
		was = now
	}
	other := *x
	other.Seen.Stamp.Inode++
	moved := other.Encode()
	copy(moved, file[:noteSize])
	is, err := ParseRows(moved)
	require.NoError(t, err)
	require.False(t, is.Begins(was), "it is the note of another file")
	other.Seen.Sure = false
	other.noted = false
	a := Append{Was: other.Seen.Stamp, Now: was}
	require.Nil(t, noteIn(other.Encode(), "s", a))
	a.Wrote = true
	require.NotNil(t, noteIn(other.Encode(), "s", a))
	require.False(t, other.Begins(other.Seen.Stamp))
}

// TestSealedNonsense decodes files whose hash is right and whose content is not.
func TestSealedNonsense(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for range testenv.Share(100, 2_000, 20_000) {
		body := make([]byte, r.IntN(400))
		for i := range body {
			body[i] = byte(r.IntN(4)) * byte(r.IntN(90))
		}
		if x, err := ParseRows(append(make([]byte, noteSize), seal(append([]byte(rowsHead), body...))...)); err == nil {
			require.Equal(t, blocksIn(x.Size), int64(x.blocks.len()))
		}
		_, _ = ParseShard(seal(append([]byte(shardHead), body...))) // it must not panic
	}
}

// TestEntryLimit hands a shard texts that are too large for it.
func TestEntryLimit(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("語", 500)
	e := Entry{ID: strings.Repeat("i", 255), Prompt: strings.Repeat("🙂", 500), HasMetadata: true, About: About{WorkingDir: "/w"}}
	require.True(t, e.Fits())
	got, err := ParseShard(Shard{e.ID: e}.Encode())
	require.NoError(t, err)
	require.Equal(t, e.Prompt, got[e.ID].Prompt)
	require.Equal(t, "/w", got[e.ID].About.WorkingDir)
	e.About.WorkingDir = big
	require.False(t, e.Fits())
	require.LessOrEqual(t, len(e.append(nil)), MaxEntry)
	got, err = ParseShard(Shard{e.ID: e}.Encode())
	require.NoError(t, err)
	require.False(t, got[e.ID].HasMetadata)
	require.Zero(t, got[e.ID].About)
	require.Equal(t, e.Prompt, got[e.ID].Prompt)
	require.Equal(t, e.ID, got[e.ID].ID)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Build(ctx, strings.NewReader("u\n"), parseLine)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Build(t.Context(), strings.NewReader("u\nx\n"), parseLine)
	require.Error(t, err)
}

// TestOtherRules reads files that were made by other rules.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	x, err := Build(t.Context(), strings.NewReader("p hello\n"), parseLine)
	require.NoError(t, err)
	rows, shard := x.Encode(), Shard{"s": {ID: "s"}}.Encode()
	for rules := range uint64(Rules + 3) {
		_, rerr := ParseRows(append(make([]byte, noteSize), sealBy(rules, rows[noteSize:len(rows)-sumSize])...))
		_, serr := ParseShard(sealBy(rules, shard[:len(shard)-sumSize]))
		if rules == Rules {
			require.NoError(t, rerr)
			require.NoError(t, serr)
			continue
		}
		require.ErrorIs(t, rerr, errBad)
		require.ErrorIs(t, serr, errBad)
	}
}

// TestEncodeAllocations encodes a shard of many entries: no entry takes memory of
// its own. It does not run beside other tests.
func TestEncodeAllocations(t *testing.T) {
	s := Shard{}
	for n := range 200 {
		id := fmt.Sprint("session-", n)
		s[id] = Entry{ID: id, Prompt: strings.Repeat("p", 300), HasMetadata: true, About: About{Name: "n", Model: "m"}}
	}
	require.Less(t, testing.AllocsPerRun(5, func() { s.Encode() }), 100.0)
}
