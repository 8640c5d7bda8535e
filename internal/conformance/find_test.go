package conformance

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
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
	findByTime    rule = "find-by-time"
	findLimit     rule = "find-limit"
	findNoKeyword rule = "find-no-keyword"
	findReports   rule = "find-reports"
)

func findRules() []rule { return []rule{findByTime, findLimit, findNoKeyword, findReports} }

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

// foundSession is a session that was found; null and "" are one.
type foundSession struct {
	ID      string `json:"session_id"`
	Path    string `json:"path"`
	Project string `json:"project"`
	Created string `json:"created"`
	Bundle  string `json:"bundle"`
	Model   string `json:"model"`
}

type findings struct {
	Sessions []foundSession
	Failed   string
}

func (c findCase) run(t *testing.T) verdict {
	reference := findings{Failed: c.Error.reading()}
	if c.Error == nil {
		require.NoError(t, json.Unmarshal([]byte(c.Results), &reference.Sessions))
	}
	return judge(reference, c.ours(t), c.predict)
}

func (c findCase) ours(t *testing.T) findings {
	t.Helper()
	p := newPlace(t)
	for project, sessions := range c.Tree {
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, project), 0o700))
		for id, f := range sessions {
			p.put(t, filepath.Join(project, "sessions", id), f)
		}
	}
	projects, err := sessionstore.OpenProjects(p.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, projects.Close()) })
	found, err := projects.Find(t.Context(), c.query(t))
	ours := findings{Sessions: []foundSession{}, Failed: outcome(err)}
	for _, f := range found {
		path := filepath.ToSlash(strings.Replace(f.Dir, p.dir, "{DIR}", 1))
		ours.Sessions = append(ours.Sessions, foundSession{f.ID, path, f.Project, f.CreatedText, f.Bundle, f.Model})
	}
	return ours
}

func (c findCase) query(t *testing.T) sessionstore.Query {
	t.Helper()
	q := sessionstore.Query{Project: c.Args.Project, Limit: c.Args.limit()}
	if c.Args.Keyword != nil {
		q.Keyword = *c.Args.Keyword
	}
	if c.Args.Status != nil {
		q.Match = statusFilter(*c.Args.Status)
	}
	var err error
	if c.Args.After != "" {
		q.After, err = pytime.ParseFilter(c.Args.After)
		require.NoError(t, err)
	}
	if c.Args.Before != "" {
		q.Before, err = pytime.ParseFilter(c.Args.Before)
		require.NoError(t, err)
	}
	return q
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
	s = &foundSession{ID: id, Path: "{DIR}/" + project + "/sessions/" + id, Project: project}
	if _, ok := md.Lookup("session_id"); ok {
		s.ID = md.Text("session_id")
	}
	s.Created, s.Bundle, s.Model = md.Text("created"), md.Text("bundle"), md.Text("model")
	if !c.inTime(s.Created) || !c.hasKeyword(f, dir) {
		return nil, false
	}
	has, failed := c.hasStatus(f, dir)
	if !has {
		s = nil
	}
	return s, failed
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

// hasKeyword looks into every row, written anew.
func (c findCase) hasKeyword(f *fired, dir files) bool {
	if c.Args.Keyword == nil {
		return true
	}
	keyword := strings.ToLower(*c.Args.Keyword)
	for line := range strings.Lines(dir["transcript.jsonl"]) {
		line = strings.TrimSpace(line)
		if isValue(line) && strings.Contains(strings.ToLower(dumps(line)), keyword) {
			return true
		}
	}
	return keyword == "" && f.by(findNoKeyword)
}

// sortFound sorts by the texts of the times, and then by the times.
func sortFound(f *fired, all []foundSession) {
	slices.SortStableFunc(all, func(a, b foundSession) int { return strings.Compare(b.Created, a.Created) })
	var timed, others []foundSession
	for _, s := range all {
		if _, ok := pytime.ParseCreated(s.Created); ok {
			timed = append(timed, s)
		} else {
			others = append(others, s)
		}
	}
	slices.SortStableFunc(timed, func(a, b foundSession) int {
		at, _ := pytime.ParseCreated(a.Created)
		bt, _ := pytime.ParseCreated(b.Created)
		return bt.Compare(at)
	})
	var merged []foundSession
	for _, s := range timed {
		for len(others) > 0 && others[0].Created > s.Created {
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
