package conformance

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// findCase is a search in all projects.
type findCase struct {
	Tree    map[string]map[string]files
	Args    findArgs
	Results string `json:"results_json"`
	Error   *failure
}

// Rules about searching.
const (
	findAsLoaded  rule = "find-as-loaded"
	findByTime    rule = "find-by-time"
	findLimit     rule = "find-limit"
	findLocalDay  rule = "find-local-day" // of the tool, which runs in UTC here
	findNoKeyword rule = "find-no-keyword"
	findReports   rule = "find-reports"
	findText      rule = "find-text"
)

func findRules() []rule {
	return []rule{findAsLoaded, findByTime, findLimit, findLocalDay, findNoKeyword, findReports, findText}
}

// findArgs are what narrows it. The reference finds 50 unless told otherwise.
type findArgs struct {
	Project, After, Before string
	Keyword, Status        *string
	Limit                  *int
}

const defaultLimit = 50

func (a findArgs) limit() int {
	if a.Limit == nil {
		return defaultLimit
	}
	return *a.Limit
}

// foundSession is a session that was found. The members of its metadata are
// JSON; null and "" are one, which is nothing.
type foundSession struct {
	ID      asJSONText `json:"session_id"`
	Path    string     `json:"path"`
	Project string     `json:"project"`
	Created asJSONText `json:"created"`
	Bundle  asJSONText `json:"bundle"`
	Model   asJSONText `json:"model"`
}

// asJSONText is a value in one notation, or nothing.
type asJSONText string

func newJSONText(raw string) asJSONText {
	if raw == "" || kindOf(raw) == pyjson.Null || stringOf(raw) == "" && kindOf(raw) == pyjson.String {
		return ""
	}
	return asJSONText(render(raw, pyjson.Style{ASCII: true}))
}

type findings struct {
	Sessions []foundSession
	Failed   string
}

func (c findCase) run(t *testing.T) verdict {
	reference := findings{Failed: c.Error.reading()}
	if c.Error == nil {
		reference.Sessions = foundIn(c.Results)
	}
	q, err := c.query()
	if err != nil { // a program reads the dates before it asks the library
		return equal(c.Error != nil && c.Error.Type == "ValueError", true)
	}
	return judge(reference, c.ours(t, q), c.predict)
}

// foundIn are the results of a search of the reference.
func foundIn(results string) []foundSession {
	all := []foundSession{}
	for _, raw := range elements(results) {
		o := parseObject(string(raw))
		all = append(all, foundSession{
			newJSONText(o.get("session_id")), stringOf(o.get("path")), stringOf(o.get("project")),
			newJSONText(o.get("created")), newJSONText(o.get("bundle")), newJSONText(o.get("model")),
		})
	}
	return all
}

func (c findCase) ours(t *testing.T, q projects.Query) findings {
	t.Helper()
	p := newPlace(t)
	for project, sessions := range c.Tree {
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, project), 0o700))
		for id, f := range sessions {
			p.put(t, filepath.Join(project, "sessions", id), f)
		}
	}
	all, err := projects.Open(p.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	found, err := all.Find(t.Context(), q)
	ours := findings{Sessions: []foundSession{}, Failed: outcome(err)}
	for _, f := range found {
		path := filepath.ToSlash(strings.Replace(f.Dir, p.dir, "{DIR}", 1))
		ours.Sessions = append(ours.Sessions, foundSession{
			newJSONText(text(f.ID)), path, f.Project,
			newJSONText(text(f.CreatedText)), newJSONText(text(f.Bundle)), newJSONText(text(f.Model)),
		})
	}
	return ours
}

// query returns the query of the arguments. The error is of a date that Python refuses.
func (c findCase) query() (q projects.Query, err error) {
	q = projects.Query{Project: c.Args.Project, Limit: c.Args.limit()}
	if c.Args.Keyword != nil {
		q.Keyword = *c.Args.Keyword
	}
	if c.Args.Status != nil {
		q.Match = statusFilter(*c.Args.Status)
	}
	if c.Args.After != "" {
		q.After, err = pytime.ParseFilter(c.Args.After)
	}
	if c.Args.Before != "" && err == nil {
		q.Before, err = pytime.ParseFilter(c.Args.Before)
	}
	return q, err
}

// predict is what Find does, or the reference.
func (c findCase) predict(f *fired) findings {
	result := findings{Sessions: []foundSession{}}
	for _, project := range slices.Sorted(maps.Keys(c.Tree)) {
		if c.Args.Project != "" && project != c.Args.Project {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.Tree[project])) {
			s, failed := c.session(f, project, id)
			switch {
			case failed && f == nil:
				return findings{Failed: unreadable}
			case failed:
				result.Failed = unreadable
			case s != nil:
				result.Sessions = append(result.Sessions, *s)
			}
		}
	}
	if f == nil && !comparable(result.Sessions) {
		return findings{Failed: unreadable}
	}
	sortFound(f, result.Sessions)
	result.Sessions = c.cut(f, result.Sessions)
	return result
}

// session returns the session if it is to be found. It failed when that is
// told: by the reference as an exception that ends the search, by us beside
// what was found.
func (c findCase) session(f *fired, project, id string) (s *foundSession, failed bool) {
	dir := c.Tree[project][id]
	raw, ok := dir["metadata.json"]
	if !ok {
		return nil, false
	}
	md, err := sessionstore.ParseMetadata([]byte(raw))
	if err != nil {
		return nil, f == nil && isValue(raw) || f.by(findReports)
	}
	s = &foundSession{Path: "{DIR}/" + project + "/sessions/" + id, Project: project}
	o := parseObject(string(md.AppendTo(nil)))
	s.ID = memberFound(f, o, "session_id", text(id))
	s.Created, s.Bundle, s.Model = memberFound(f, o, "created", ""), memberFound(f, o, "bundle", ""), memberFound(f, o, "model", "")
	if !c.inTime(s.createdText()) {
		return nil, false
	}
	if has, failed := c.hasKeyword(f, dir); !has {
		return nil, failed
	}
	has, failed := c.hasStatus(f, s.Path, dir)
	if !has {
		s = nil
	}
	return s, failed
}

// memberFound is a member of metadata as it is returned; by our rules what is no
// text is other, and so is what is not there.
func memberFound(f *fired, o object, name, other string) asJSONText {
	raw := o.get(name)
	if o.index(name) < 0 {
		raw = other
	}
	ours := goText(raw, other)
	if was := newJSONText(raw); was == newJSONText(ours) || !f.by(findText) {
		return was
	}
	return newJSONText(ours)
}

// goText is a text as Go has it: without lone surrogates. What is no text is
// other.
func goText(raw, other string) string {
	if kindOf(raw) != pyjson.String {
		return other
	}
	return text(pyjson.Text([]byte(raw)))
}

// createdText is the text of created, or "" where it is none.
func (s foundSession) createdText() string { return stringOf(string(s.Created)) }

// comparable reports whether Python can sort all by created: what is true must
// be of one kind that has an order.
func comparable(all []foundSession) bool {
	kinds := map[pyjson.Kind]bool{}
	for _, s := range all {
		k := pyjson.String
		if raw := string(s.Created); raw != "" && truthy(raw) {
			k = kindOf(raw)
		}
		if k == pyjson.True || k == pyjson.Float {
			k = pyjson.Integer // they have one order
		}
		kinds[k] = true
	}
	return len(all) < 2 || len(kinds) == 1 && !kinds[pyjson.Object]
}

func (c findCase) inTime(created string) bool {
	at, ok := pytime.ParseCreated(created)
	if !ok {
		return true
	}
	if after, err := pytime.ParseFilter(c.Args.After); err == nil && !at.After(after) {
		return false
	}
	before, err := pytime.ParseFilter(c.Args.Before)
	return err != nil || at.Before(before)
}

// hasKeyword looks into every row, written anew. It failed as session does.
func (c findCase) hasKeyword(f *fired, dir files) (has, failed bool) {
	if c.Args.Keyword == nil {
		return true, false
	}
	data, keyword := dir[transcriptFile], strings.ToLower(*c.Args.Keyword)
	has, failed = searched(nil, data, keyword)
	if f == nil {
		return has, failed
	}
	if keyword == "" {
		return has && !failed || f.by(findNoKeyword), false
	}
	ours, failedOurs := searched(f, data, keyword)
	if failed {
		f.by(findReports)
	}
	return ours, failedOurs
}

// searched looks for a keyword in lower case. What the reference cannot read
// ends its search; ours is told of bytes that are no UTF-8 unless it finds the
// keyword all the same.
func searched(f *fired, data, keyword string) (has, failed bool) {
	valid := utf8.ValidString(data)
	if f == nil && !valid {
		return false, true
	}
	for row, flaw := range rowsIn(f, data) {
		switch {
		case flaw == none && strings.Contains(strings.ToLower(dumps(row)), keyword):
			return true, false
		case flaw == worse && f == nil:
			return false, true
		}
	}
	return false, !valid
}

// sortFound sorts by the texts of the times, and then by the times.
func sortFound(f *fired, all []foundSession) {
	slices.SortStableFunc(all, func(a, b foundSession) int { return strings.Compare(b.createdText(), a.createdText()) })
	var timed, others []foundSession
	for _, s := range all {
		if _, ok := pytime.ParseCreated(s.createdText()); ok {
			timed = append(timed, s)
		} else {
			others = append(others, s)
		}
	}
	slices.SortStableFunc(timed, func(a, b foundSession) int {
		at, _ := pytime.ParseCreated(a.createdText())
		bt, _ := pytime.ParseCreated(b.createdText())
		return bt.Compare(at)
	})
	var merged []foundSession
	for _, s := range timed {
		for len(others) > 0 && others[0].createdText() > s.createdText() {
			merged, others = append(merged, others[0]), others[1:]
		}
		merged = append(merged, s)
	}
	merged = append(merged, others...)
	if !slices.Equal(all, merged) && f.by(findByTime) {
		copy(all, merged)
	}
}

func (c findCase) cut(f *fired, all []foundSession) []foundSession {
	limit := c.Args.limit()
	switch {
	case limit <= 0 && f.by(findLimit):
		return all
	case limit < 0:
		return all[:max(0, len(all)+limit)]
	}
	return all[:min(limit, len(all))]
}

func isValue(raw string) bool { return pyjson.Check([]byte(raw), pyjson.Tolerant) == nil }

// dumps is the value raw as Python writes it.
func dumps(raw string) string {
	text, err := pyjson.Append(nil, []byte(raw), pyjson.Style{})
	if err != nil {
		return ""
	}
	return string(text)
}
