// Counts prints what the files of another tool on this machine hold, counted by the
// code that imports them, for other programs to compare with.
//
//	go run ./sessionstore/archive/foreign/internal/counts --from TOOL [--since TIME] [--project NAME] [--sessions-root DIR] [DIR]...
//
// The tool's files are those that sessions import --from finds: below $CLAUDE_CONFIG_DIR or
// $CODEX_HOME, or ~/.claude or ~/.codex, or else below the named directories. The sessions are in the directory of
// --sessions-root, or else where the Amplifier tools keep theirs: ids and parents follow from the
// sessions that are there. --project takes only the histories of one project, and --since only
// those that were changed since a time of RFC 3339 or a date. Nothing is written.
//
// It prints a JSON object a line for each session in the files, the history's own first. A text
// or a number that the file does not have is null.
//
//	tool, id, foreign_id   the tool, the id here, the tool's own id
//	parent                 id of the session that began it, or that it was forked from
//	file, cwd              the path as found, and the first working directory in it
//	first, last            the earliest and the latest time of a line, in its own text
//	prompts                what a person typed. whole: on the line that goes on before
//	                       compactions; active: on the line that the tool would resume;
//	                       all: on all lines. Codex: the events of prompts, or the typed
//	                       items where there is none; active and whole are those that
//	                       were not rolled back
//	agent_prompts          the tasks of a sub-agent, whose prompts are 0
//	queued, slash, shell   typed while the model worked, commands of the tool, commands
//	                       for the shell: these are no prompts
//	last_prompt_sha256     of the text of the last prompt on both lines, several text
//	                       blocks joined by a newline
//	responses              each message.id once (Codex: the messages of the model)
//	calls, results         each id once, and calls_without_result (Codex: items)
//	sub_sessions, forks    sub-agents, which are objects of their own, and the forks that
//	                       the import makes of branches
//	models                 by name: responses (Codex: turns)
//	usage                  input, output, cache_read, cache_write in tokens, each response
//	                       once (Codex: the last total; the input has what was cached)
//	unread_lines, unknown  lines that could not be read, and how often each kind that is
//	                       not known
//
// Responses, calls, results, models and usage are of the whole file, without its
// sub-sessions. A history that fails does not stop the others; the exit code is 1 then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/counts/count"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func main() {
	tool := flag.String("from", "", "the tool: claude, codex, copilot, opencode or pi")
	since := flag.String("since", "", "only histories that were changed since this time")
	project := flag.String("project", "", "only histories of this project")
	root := flag.String("sessions-root", "", "the directory of the sessions")
	flag.Parse()
	if err := run(os.Stdout, foreign.Tool(*tool), *since, *project, *root, flag.Args()...); err != nil {
		fmt.Fprintln(os.Stderr, "counts:", err)
		os.Exit(1)
	}
}

// run prints the counts of the histories of a tool, which are below its own directory where
// none is named.
func run(w io.Writer, tool foreign.Tool, since, project, root string, homes ...string) error {
	var after time.Time
	if since != "" {
		t, err := timeOf(since)
		if err != nil {
			return err
		}
		after = t
	}
	p, err := projects.Open(root, nil)
	if err != nil {
		return err
	}
	if len(homes) == 0 {
		homes = []string{""}
	}
	var all []foreign.History
	var failed error
	for _, home := range homes {
		some, err := foreign.Find(context.Background(), tool, &foreign.FindOptions{Home: home, Since: after})
		all, failed = append(all, some...), errors.Join(failed, err)
	}
	slices.SortStableFunc(all, func(a, b foreign.History) int { return a.Modified.Compare(b.Modified) })
	for _, h := range all {
		if project == "" || h.Project() == project {
			failed = errors.Join(failed, printCounts(w, p, h))
		}
	}
	return errors.Join(failed, p.Close())
}

// timeOf reads a time of RFC 3339, or a date.
func timeOf(s string) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, s)
}

// printCounts prints the counts of one history.
func printCounts(w io.Writer, p *projects.Projects, h foreign.History) error {
	var found count.Counts
	_, err := foreign.Import(thread.WithFinds(context.Background(), found.Add), p, h, &foreign.Options{DryRun: true})
	if errors.Is(err, foreign.ErrEmpty) {
		err = nil
	}
	for _, c := range found {
		row, failed := sessionstore.FormatJSON(c, 0)
		if failed == nil {
			_, failed = w.Write(append(row, '\n'))
		}
		err = errors.Join(err, failed)
	}
	return err
}
