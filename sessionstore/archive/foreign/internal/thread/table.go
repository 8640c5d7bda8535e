package thread

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// result is where the result of a call is.
type result struct {
	call uint64 // hash of the id
	at   int32
}

// Table is the part of a file that stays in memory.
type Table struct {
	Records  pieces[Record]
	Extras   []int32  // the records that are not the first one of their line
	End      int32    // the record that the conversation ends with; -1: see conversation
	byUUID   []int32  // the lines that have a uuid, in the order of uuids, then of lines
	byKey    []int32  // answers in the order of keys, then of lines
	results  []result // in the order of calls, then of lines
	Calls    []result // in the order of ids, then of records
	repeated map[uint64]bool
	kept     *preserved
	Exported string // the session that marks are of
	Marks    []Mark // in the order of records
	Scope    Scope

	sum       [32]byte // SHA-256 of the file
	First     time.Time
	Dir       string
	Title     string // the newest title, by a person where there is one
	ByPerson  bool   // a person gave the title
	LinesRead int
	Numbered  bool // the last line has a number: the tool refuses lines without one behind it

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

// orderUUIDs orders the records by their uuids.
func (t *Table) orderUUIDs() {
	n := 0
	for _, r := range t.Records.All() {
		if r.UUID != 0 {
			n++
		}
	}
	t.byUUID = make([]int32, 0, n)
	for i, r := range t.Records.All() {
		if r.UUID != 0 {
			t.byUUID = append(t.byUUID, int32(i))
		}
	}
	slices.SortFunc(t.byUUID, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Records.At(a).UUID, t.Records.At(b).UUID), cmp.Compare(a, b))
	})
}

// orderCalls orders the calls and the results.
func (t *Table) orderCalls() {
	for _, all := range [][]result{t.Calls, t.results} {
		slices.SortFunc(all, func(a, b result) int {
			return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.at, b.at))
		})
	}
}

// SetScope decides how far back conversations go, and finds the ids that several
// calls have then.
func (t *Table) SetScope(s Scope) {
	t.Scope = s
	t.repeated = map[uint64]bool{}
	last, seen := uint64(0), false
	for _, c := range t.Calls {
		if r := t.Records.At(c.at); r.Is(IsRepeated) || s == WholeLine && r.Is(IsCopied) {
			continue
		}
		if seen && c.call == last {
			t.repeated[last] = true
		}
		last, seen = c.call, true
	}
}

// orderAnswers orders the answers by the ids of their responses.
func (t *Table) orderAnswers() {
	n := 0
	for _, r := range t.Records.All() {
		if r.Is(IsAssistant) {
			n++
		}
	}
	t.byKey = make([]int32, 0, n)
	for i, r := range t.Records.All() {
		if r.Is(IsAssistant) {
			t.byKey = append(t.byKey, int32(i))
		}
	}
	slices.SortFunc(t.byKey, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Records.At(a).Key, t.Records.At(b).Key), cmp.Compare(a, b))
	})
}

// Find returns the last line with a uuid, -1 where there is none.
func (t *Table) Find(uuid uint64) int32 {
	if uuid == 0 {
		return -1
	}
	if t.byUUID == nil { // a file of Codex, whose records follow each other
		t.orderUUIDs()
	}
	i, _ := slices.BinarySearchFunc(t.byUUID, uuid, func(at int32, u uint64) int {
		if t.Records.At(at).UUID <= u {
			return -1
		}
		return 1
	})
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

// withKey returns the answers of a response.
func (t *Table) withKey(key uint64) []int32 {
	i, _ := slices.BinarySearchFunc(t.byKey, key, func(at int32, k uint64) int { return cmp.Compare(t.Records.At(at).Key, k) })
	end := i
	for end < len(t.byKey) && t.Records.At(t.byKey[end]).Key == key {
		end++
	}
	return t.byKey[i:end]
}

// ResultsOf returns where the results of a call are.
func (t *Table) ResultsOf(call uint64) []result {
	i, _ := slices.BinarySearchFunc(t.results, call, func(r result, c uint64) int { return cmp.Compare(r.call, c) })
	end := i
	for end < len(t.results) && t.results[end].call == call {
		end++
	}
	return t.results[i:end]
}

// Line returns the line of a record, from 0.
func (t *Table) Line(at int32) int32 {
	n, found := slices.BinarySearch(t.Extras, at)
	if found {
		n++
	}
	return at - int32(n)
}

// nth returns which record of its line a record is, from 0.
func (t *Table) nth(at int32) int {
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
