package thread

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"time"
)

// result is where the result of a call is.
type result struct {
	Of uint64 // hash of the id of the call
	At int32
}

// Table is the part of a file that stays in memory.
type Table struct {
	Records  pieces[Record]
	Extras   []int32  // the records that are not the first one of their line
	End      int32    // the record that the conversation ends with; -1: see conversation
	byUUID   []int32  // the lines that have a uuid, in the order of uuids, then of lines
	byKey    []int32  // answers in the order of keys, then of lines
	Results  []result // in the order of calls, then of lines
	Calls    []result // in the order of ids, then of records
	repeated map[uint64]bool
	kept     *preserved
	Exported string           // the session that marks are of
	Marks    []Mark           // in the order of records
	Seals    map[int32]string // by record, of the marks of messages that the export changed
	Scope    Scope
	Inside   map[int32]Inside // the sub-agents whose lines are in the file of their session, by their first records

	Sum       string // SHA-256 of the file
	First     time.Time
	Dir       string    // the first working directory
	Title     string    // the newest title, by a person where there is one
	ByPerson  bool      // a person gave the title
	Named     time.Time // when a person gave the title, or took one back, at the earliest; zero: the file does not say
	LinesRead int
	Version   int64 // of the format; 0: the file does not say
	Numbered  bool  // the last line has a number: the tool refuses lines without one behind it

	Lineage Lineage
	Facts   Facts
}

// Lineage is the origin that a file names beside the conversation.
type Lineage struct {
	ID       string // the tool's own id
	Spawner  string // id of the session whose sub-agent wrote the file
	Agent    string // name of that sub-agent
	Original string // id of the session that it was forked from
	Shared   int    // prompts that it has from there
}

// Inside is a sub-agent whose lines are in the file of its session, as far as the file says.
type Inside struct {
	ID, Name, Task string
	Call           string // the id of the call that began it
	Parent         int32  // the first record of the sub-agent that began it; -1: the conversation did
}

// orderUUIDs orders the records by their uuids.
func (t *Table) orderUUIDs() {
	t.byUUID = t.ordered(func(r *Record) bool { return r.UUID != 0 }, func(r *Record) uint64 { return r.UUID })
}

// ordered returns the records that fit in the order of a key, then of lines.
func (t *Table) ordered(fits func(*Record) bool, key func(*Record) uint64) []int32 {
	n := 0
	for _, r := range t.Records.All() {
		if fits(r) {
			n++
		}
	}
	all := make([]int32, 0, n) // and no more memory than it must
	for i, r := range t.Records.All() {
		if fits(r) {
			all = append(all, int32(i))
		}
	}
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(key(t.Records.At(a)), key(t.Records.At(b))), cmp.Compare(a, b))
	})
	return all
}

// SetScope decides how far back conversations go, and finds the ids that several
// calls have then.
func (t *Table) SetScope(s Scope) {
	t.Scope = s
	t.repeated = map[uint64]bool{}
	last, seen := uint64(0), false
	for _, c := range t.Calls {
		if r := t.Records.At(c.At); r.Is(IsRepeated) || s == WholeLine && r.Is(IsCopied) {
			continue
		}
		if seen && c.Of == last {
			t.repeated[last] = true
		}
		last, seen = c.Of, true
	}
}

// Find returns the last line with a uuid, -1 where there is none.
func (t *Table) Find(uuid uint64) int32 {
	if uuid == 0 {
		return -1
	}
	if t.byUUID == nil { // a file of Codex, whose records follow each other
		t.orderUUIDs()
	}
	i := sort.Search(len(t.byUUID), func(i int) bool { return t.Records.At(t.byUUID[i]).UUID > uuid })
	if i == 0 || t.Records.At(t.byUUID[i-1]).UUID != uuid {
		return -1
	}
	return t.byUUID[i-1]
}

// NameBy gives a file without a title the title of its latest record that has one.
func (t *Table) NameBy(summaries map[uint64]string) {
	if t.Title != "" {
		return
	}
	last := int32(-1)
	for leaf, title := range summaries {
		if at := t.Find(leaf); at > last {
			last, t.Title = at, title
		}
	}
}

// Has reports whether nine of ten records of another file are in this one, too.
func (t *Table) Has(o *Table) bool {
	all, here := 0, 0
	for _, r := range o.Records.All() {
		if r.UUID == 0 {
			continue
		}
		if all++; t.Find(r.UUID) >= 0 {
			here++
		}
	}
	return all > 0 && here*10 >= all*9
}

// mergeSpent merges the usage in the parts of each response into one.
func (t *Table) mergeSpent() {
	key := func(s Spent) uint64 { return t.Records.At(s.At).Key }
	all := t.Facts.Spent
	slices.SortFunc(all, func(a, b Spent) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.At, b.At)) })
	n := 0
	for _, s := range all {
		if n > 0 && key(all[n-1]) == key(s) {
			all[n-1].join(s)
			continue
		}
		all[n] = s
		n++
	}
	t.Facts.Spent = all[:n]
}

// Responses yields the usage of each response among these records, where the file has it by
// response.
func (t *Table) Responses(mine func(at int32) bool) iter.Seq[Used] {
	return func(yield func(Used) bool) {
		for _, r := range t.Facts.Spent {
			if !mine(r.At) || r.Has == 0 || t.IsMarked(r.At) {
				continue
			}
			u := Used{ID: r.ID, Model: UnknownModel}
			if r.Model > 0 {
				u.Model = t.Facts.Models[r.Model-1]
			}
			u.Usage = Usage{int64(r.Tokens[0]), int64(r.Tokens[1]), int64(r.Tokens[2]), int64(r.Tokens[3])}
			if !yield(u) {
				return
			}
		}
	}
}

// Spent returns the usage of these records by model.
func (t *Table) Spent(mine func(at int32) bool) map[string]*Spending {
	if t.Facts.Total != nil {
		return t.Facts.Total
	}
	all := map[string]*Spending{}
	for r := range t.Responses(mine) {
		r.AddTo(all)
	}
	return all
}

// withKey returns the answers of a response.
func (t *Table) withKey(key uint64) []int32 {
	return having(t.byKey, key, func(at int32) uint64 { return t.Records.At(at).Key })
}

// ResultsOf returns where the results of a call are.
func (t *Table) ResultsOf(call uint64) []result {
	return having(t.Results, call, func(r result) uint64 { return r.Of })
}

// having returns those of a list in the order of a key that have it.
func having[T any](all []T, key uint64, of func(T) uint64) []T {
	i, _ := slices.BinarySearchFunc(all, key, func(v T, k uint64) int { return cmp.Compare(of(v), k) })
	end := i
	for end < len(all) && of(all[end]) == key {
		end++
	}
	return all[i:end]
}

// Line returns the line of a record, from 0.
func (t *Table) Line(at int32) int32 {
	n, found := slices.BinarySearch(t.Extras, at)
	if found {
		n++
	}
	return at - int32(n)
}

// Nth returns which record of its line a record is, from 0.
func (t *Table) Nth(at int32) int {
	if _, extra := slices.BinarySearch(t.Extras, at); !extra {
		return 0
	}
	offset := t.Records.At(at).Offset
	return int(at) - sort.Search(int(at), func(i int) bool { return t.Records.At(int32(i)).Offset >= offset })
}

// RecordAt returns the first record of a line, from 0, -1 where there is none.
func (t *Table) RecordAt(line int) int32 {
	at := sort.Search(t.Records.Len(), func(i int) bool { return int(t.Line(int32(i))) >= line })
	if at == t.Records.Len() {
		return -1
	}
	return int32(at)
}

// IsMarked reports whether an export made the line of a record.
func (t *Table) IsMarked(at int32) bool {
	_, found := slices.BinarySearchFunc(t.Marks, at, func(m Mark, at int32) int { return cmp.Compare(m.At, at) })
	return found
}

// BeginsMarked reports whether an export made the first line of the conversation.
func (t *Table) BeginsMarked() bool {
	for i, r := range t.Records.All() {
		if r.Is(IsUser | IsAssistant) {
			return t.IsMarked(int32(i))
		}
	}
	return false
}

// maxSiblings is how many lines of a response are looked for beside the chain.
const maxSiblings = 4096
