package main

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// findings are the results in the output of a run.
type findings struct {
	failing bool           // a test failed
	flaky   bool           // a test failed, and passed when it was run again
	killed  bool           // a process was killed
	shown   bool           // it did something
	repeat  string         // the command that the first test names which failed
	figures map[string]int // the counts of tests
}

var (
	failing = regexp.MustCompile(`^(--- FAIL: |panic: |fatal error: |LOST |WARNING: DATA RACE)`)

	// counts match the lines in which tests count. Its groups name the numbers.
	counts = []*regexp.Regexp{
		regexp.MustCompile(`^power cuts \S+: (?P<states>\d+) states, acknowledged (?P<acknowledged>\d+), lost (?P<lost>\d+)`),
		regexp.MustCompile(`^simulation: (?P<seeds>\d+) seeds, .*lost (?P<lost>\d+), .*bad (?P<bad>\d+), late (?P<late>\d+)`),
		regexp.MustCompile(`^kills: (?P<rounds>\d+) rounds, (?P<lost>\d+) lost`),
		regexp.MustCompile(`total: faults: (?P<points>\d+) points, (?P<lost>\d+) lost`),
	}
)

// read reads the output of a run. The run did something when the output has the text
// shows.
func read(in io.Reader, shows string) (findings, error) {
	f := findings{figures: map[string]int{}}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		f.take(strings.TrimSpace(line), shows)
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
	}
}

func (f *findings) take(line, shows string) {
	f.failing = f.failing || failing.MatchString(line)
	f.flaky = f.flaky || strings.HasPrefix(line, "FLAKY ")
	f.killed = f.killed || strings.Contains(line, "signal: killed")
	f.shown = f.shown || strings.Contains(line, shows)
	if _, command, ok := strings.Cut(line, "to repeat: "); ok && f.repeat == "" {
		f.repeat = command
	}
	if _, tool, ok := strings.Cut(line, "real tools: newer on npm: "); ok {
		f.figures[tool+", runs"]++
	}
	for _, c := range counts {
		if found := c.FindStringSubmatch(line); found != nil {
			for i, name := range c.SubexpNames()[1:] {
				n, _ := strconv.Atoi(found[i+1]) // digits
				f.figures[name] += n
			}
		}
	}
}

// judge returns the result of a run, and the reason where no test gives it.
func judge(e ended, f findings) (result, reason string) {
	switch {
	case e.code == 0 && !f.shown:
		return notRun, "it tested nothing: the machine may lack something"
	case e.code == 0 && !f.flaky:
		return passed, ""
	case e.paused:
		return notRun, "it was paused while a gate ran, and failed"
	case e.cut != "" && !f.failing:
		return notRun, e.cut
	case !f.failing && (f.killed || e.code == killed || e.code == -1):
		return notRun, "a process of it was killed"
	case e.code == 0:
		return failed, "a test failed, and passed when it was run again"
	}
	return failed, e.cut
}
