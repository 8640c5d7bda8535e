package picker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// at returns a session of a project in a directory.
func at(dir, id, title string) Session {
	return Session{Key: Key{sessionstore.ProjectSlug(dir), id}, Title: title, Stored: title, Dir: dir}
}

// drawn returns the items of a list in one line, the chosen one in brackets.
func drawn(l *list) string {
	var parts []string
	for i, it := range l.items {
		text := it.heading
		if text == "" {
			text = l.all[it.session].ID
		} else {
			text += fmt.Sprint("=", it.count)
		}
		if i == l.cursor {
			text = "[" + text + "]"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func twoProjects() *list {
	l := &list{cursor: -1}
	l.add([]Session{at("/a", "1", "weather"), at("/b", "2", "pool"), at("/a", "3", "report")})
	return l
}

func TestListGroups(t *testing.T) {
	t.Parallel()
	l := twoProjects()
	require.Equal(t, "/a=2 [1] 3 /b=1 2", drawn(l))
	l.add([]Session{{Key: Key{"-c", "4"}}, at("/b", "5", "")})
	require.Equal(t, "/a=2 [1] 3 /b=2 2 5 -c=1 4", drawn(l), "a project without a path shows its name")
	moved := at("/elsewhere", "6", "")
	moved.Project = "-c"
	l.add([]Session{moved})
	require.Contains(t, drawn(l), "-c=2 4 6", "a path of another name is not the project's")
}

func TestListMove(t *testing.T) {
	t.Parallel()
	l := twoProjects()
	for _, step := range []struct {
		by   int
		want string
	}{{1, "3"}, {1, "2"}, {1, "2"}, {-1, "3"}, {-10, "1"}, {10, "2"}} {
		l.move(step.by)
		require.Equal(t, step.want, l.choice().ID)
	}
	empty := &list{cursor: -1}
	empty.move(1)
	require.Equal(t, Key{}, empty.choice())
}

// TestListKeepsChoice has sessions come while one is chosen.
func TestListKeepsChoice(t *testing.T) {
	t.Parallel()
	l := twoProjects()
	l.move(2)
	l.add([]Session{at("/a", "4", "")})
	require.Equal(t, "/a=3 1 3 4 /b=1 [2]", drawn(l))
	l.replace([]Session{at("/b", "2", "pool"), at("/a", "1", "weather")})
	require.Equal(t, "/b=1 [2] /a=1 1", drawn(l))
	l.replace([]Session{at("/a", "1", "weather")})
	require.Equal(t, "/a=1 [1]", drawn(l))
	l.wanted = Key{"-a", "9"}
	l.replace([]Session{at("/a", "1", ""), at("/a", "9", "")})
	require.Equal(t, "/a=2 1 [9]", drawn(l))
}

func TestListRemove(t *testing.T) {
	t.Parallel()
	l := twoProjects()
	l.remove(Key{"-a", "1"})
	require.Equal(t, "/b=1 2 /a=1 [3]", drawn(l))
	l.move(-1)
	l.remove(Key{"-b", "2"})
	require.Equal(t, "/a=1 [3]", drawn(l))
	l.remove(Key{"-a", "nothing"})
	l.remove(Key{"-a", "3"})
	require.Empty(t, drawn(l))
}

func TestListFilter(t *testing.T) {
	t.Parallel()
	l := twoProjects()
	l.filter("POOL")
	require.Equal(t, "/b=1 [2]", drawn(l))
	l.add([]Session{at("/a", "4", "pool"), at("/a", "5", "other")})
	require.Equal(t, "/b=1 [2] /a=1 4", drawn(l))
	l.filter("nothing of that")
	require.Empty(t, drawn(l))
	l.filter("")
	require.Equal(t, "/a=4 [1] 3 4 5 /b=1 2", drawn(l))
	l.limit(map[Key]bool{{"-a", "5"}: true})
	require.Equal(t, "/a=1 [5]", drawn(l))
	l.limit(nil)
	require.Equal(t, 5, l.shown)
	l = &list{cursor: -1}
	l.add([]Session{at("/a", "1", "the pool"), at("/a", "2", "p-o-o-l"), at("/b", "3", "a pool"), at("/a", "4", "pool of a")})
	l.filter("pool")
	require.Equal(t, "/a=2 [1] 4 /b=1 3 /a=1 2", drawn(l), "what fits in part comes after all that fits")
	l = twoProjects()
	l.filter("re")
	require.Contains(t, drawn(l), "[3]", "the best of a project comes first")
}
