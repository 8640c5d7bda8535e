package foreign

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

// table is what stays in memory of a file.
type table struct {
	records  pieces[record]
	extras   []int32  // the records that are not the first one of their line
	end      int32    // the record that the conversation ends with; -1: see conversation
	byUUID   []int32  // the lines that have a uuid, in the order of uuids, then of lines
	byKey    []int32  // answers in the order of keys, then of lines
	results  []result // in the order of calls, then of lines
	calls    []result // in the order of ids, then of records
	repeated map[uint64]bool
	kept     *preserved
	exported string // the session that marks are of
	marks    []mark // in the order of records
	scope    scope

	sum       [32]byte // SHA-256 of the file
	sums      []frameSum
	first     time.Time
	cwd       string
	title     string // the newest title, by a person where there is one
	byPerson  bool   // a person gave the title
	linesRead int

	thread thread
	facts  facts
}

// thread is what a file tells of itself beside the conversation.
type thread struct {
	id       string // the tool's own id
	spawner  string // id of the session whose sub-agent wrote the file
	agent    string // name of that sub-agent
	original string // id of the session that it was forked from
	shared   int    // prompts that it has from there
	base     codexBase
}

// codexBase is what a file of Codex says of its beginning: it stands in the file of a
// thread or of a segment, before an ordinal and an offset.
type codexBase struct {
	id      string
	ordinal int64
	offset  int64
}

// link orders the records by their uuids and finds the parents that the file has. loose
// has the records whose parent is not the record before, with the hash of its uuid.
func (t *table) link(loose []result) {
	t.orderUUIDs()
	for i, at := range t.byUUID {
		if i+1 < len(t.byUUID) && t.records.at(t.byUUID[i+1]).uuid == t.records.at(at).uuid {
			t.records.at(at).flags |= isRepeated
		}
	}
	for _, l := range loose {
		t.records.at(l.at).parent = t.find(l.call)
	}
}

// chain lets each record follow the last one with the uuid of its parent, and nothing
// follow what tells progress.
func (t *table) chain() {
	for _, r := range t.records.all() {
		if p := r.parent; p >= 0 && t.records.at(p).is(isRepeated) {
			r.parent = t.find(t.records.at(p).uuid)
		}
	}
	for i := range t.records.all() {
		t.passProgress(int32(i))
	}
	for _, r := range t.records.all() {
		if p := r.parent; p >= 0 && !r.is(isProgress|isGuessed) && r.is(isSidechain) == t.records.at(p).is(isSidechain) {
			t.records.at(p).flags |= hasChild
		}
	}
}

// orderUUIDs orders the records by their uuids.
func (t *table) orderUUIDs() {
	n := 0
	for _, r := range t.records.all() {
		if r.uuid != 0 {
			n++
		}
	}
	t.byUUID = make([]int32, 0, n)
	for i, r := range t.records.all() {
		if r.uuid != 0 {
			t.byUUID = append(t.byUUID, int32(i))
		}
	}
	slices.SortFunc(t.byUUID, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.records.at(a).uuid, t.records.at(b).uuid), cmp.Compare(a, b))
	})
}

// passProgress lets a record follow the nearest one that tells no progress. What
// was passed is linked past, too, so that a long run is walked once.
func (t *table) passProgress(at int32) {
	p := t.records.at(at).parent
	for steps := 0; p >= 0 && t.records.at(p).is(isProgress); steps++ {
		if steps > t.records.len() {
			p = -1 // a circle
			break
		}
		p = t.records.at(p).parent
	}
	for q := t.records.at(at).parent; q >= 0 && q != p && t.records.at(q).is(isProgress); {
		q, t.records.at(q).parent = t.records.at(q).parent, p
	}
	t.records.at(at).parent = p
}

// orderCalls orders the calls and the results.
func (t *table) orderCalls() {
	for _, all := range [][]result{t.calls, t.results} {
		slices.SortFunc(all, func(a, b result) int {
			return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.at, b.at))
		})
	}
}

// setScope decides how far back conversations go, and finds the ids that several
// calls have then.
func (t *table) setScope(s scope) {
	t.scope = s
	t.repeated = map[uint64]bool{}
	last, seen := uint64(0), false
	for _, c := range t.calls {
		if r := t.records.at(c.at); r.is(isRepeated) || s == wholeLine && r.is(isCopied) {
			continue
		}
		if seen && c.call == last {
			t.repeated[last] = true
		}
		last, seen = c.call, true
	}
}

// orderAnswers orders the answers by the ids of their responses.
func (t *table) orderAnswers() {
	n := 0
	for _, r := range t.records.all() {
		if r.is(isAssistant) {
			n++
		}
	}
	t.byKey = make([]int32, 0, n)
	for i, r := range t.records.all() {
		if r.is(isAssistant) {
			t.byKey = append(t.byKey, int32(i))
		}
	}
	slices.SortFunc(t.byKey, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.records.at(a).key, t.records.at(b).key), cmp.Compare(a, b))
	})
}

// find returns the last line with a uuid, -1 where there is none.
func (t *table) find(uuid uint64) int32 {
	if uuid == 0 {
		return -1
	}
	if t.byUUID == nil { // a file of Codex, whose records follow each other
		t.orderUUIDs()
	}
	i, _ := slices.BinarySearchFunc(t.byUUID, uuid, func(at int32, u uint64) int {
		if t.records.at(at).uuid <= u {
			return -1
		}
		return 1
	})
	if i == 0 || t.records.at(t.byUUID[i-1]).uuid != uuid {
		return -1
	}
	return t.byUUID[i-1]
}

// nameBy gives a file without a title that of its latest record that has one.
func (t *table) nameBy(summaries map[uint64]string) {
	if t.title != "" {
		return
	}
	last := int32(-1)
	for leaf, title := range summaries {
		if at := t.find(leaf); at > last {
			last, t.title = at, title
		}
	}
}

// has reports whether nine of ten records of another file stand in this one, too.
func (t *table) has(o *table) bool {
	all, here := 0, 0
	for _, r := range o.records.all() {
		if r.uuid == 0 {
			continue
		}
		if all++; t.find(r.uuid) >= 0 {
			here++
		}
	}
	return all > 0 && here*10 >= all*9
}

// mergeSpent makes one of what the parts of each response tell of its use.
func (t *table) mergeSpent() {
	key := func(s spent) uint64 { return t.records.at(s.at).key }
	all := t.facts.spent
	slices.SortFunc(all, func(a, b spent) int { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.at, b.at)) })
	n := 0
	for _, s := range all {
		if n > 0 && key(all[n-1]) == key(s) {
			all[n-1].join(s)
			continue
		}
		all[n] = s
		n++
	}
	t.facts.spent = all[:n]
}

// withKey returns the answers of a response.
func (t *table) withKey(key uint64) []int32 {
	i, _ := slices.BinarySearchFunc(t.byKey, key, func(at int32, k uint64) int { return cmp.Compare(t.records.at(at).key, k) })
	end := i
	for end < len(t.byKey) && t.records.at(t.byKey[end]).key == key {
		end++
	}
	return t.byKey[i:end]
}

// resultsOf returns where the results of a call are.
func (t *table) resultsOf(call uint64) []result {
	i, _ := slices.BinarySearchFunc(t.results, call, func(r result, c uint64) int { return cmp.Compare(r.call, c) })
	end := i
	for end < len(t.results) && t.results[end].call == call {
		end++
	}
	return t.results[i:end]
}

// line returns the line of a record, from 0.
func (t *table) line(at int32) int32 {
	n, found := slices.BinarySearch(t.extras, at)
	if found {
		n++
	}
	return at - int32(n)
}

// nth returns which record of its line a record is, from 0.
func (t *table) nth(at int32) int {
	if _, extra := slices.BinarySearch(t.extras, at); !extra {
		return 0
	}
	offset := t.records.at(at).offset
	return int(at) - sort.Search(int(at), func(i int) bool { return t.records.at(int32(i)).offset >= offset })
}

// recordAt returns the first record of a line, from 0, -1 where there is none.
func (t *table) recordAt(line int) int32 {
	at := sort.Search(t.records.len(), func(i int) bool { return int(t.line(int32(i))) >= line })
	if at == t.records.len() {
		return -1
	}
	return int32(at)
}

// isMarked reports whether an export made the line of a record.
func (t *table) isMarked(at int32) bool {
	_, found := slices.BinarySearchFunc(t.marks, at, func(m mark, at int32) int { return cmp.Compare(m.at, at) })
	return found
}
