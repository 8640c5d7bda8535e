//go:build unix

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPickerStartsHere opens the picker in a project, and in a directory without sessions.
func TestPickerStartsHere(t *testing.T) {
	t.Parallel()
	p := openPane(t, 100, 24)
	p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
	p.session("pool", "22222222-0000-4000-8000-000000000001", "Fix the pool", time.Hour)
	p.keys("cd weather; sessions", "Enter")
	screen := p.shows("Write a report", "Nothing more.")
	require.NotContains(t, screen, "Fix the pool")
	p.left()
	p.command("clear")
	p.keys("sessions --all-projects", "Enter")
	p.shows("Write a report", "Fix the pool", "Nothing more.")
	p.left()
	p.command("cd ..; clear")
	p.keys("sessions resume", "Enter")
	p.shows("Write a report", "Fix the pool", "Nothing more.")
	p.keys("q")
}

// TestResumeInterrupted presses Ctrl-C while a host has the terminal: it is the host's alone.
func TestResumeInterrupted(t *testing.T) {
	t.Parallel()
	p := openPane(t, 100, 24)
	p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report", 2*time.Hour)
	p.host(`trap 'echo host was interrupted' INT; echo host begins; while ! read line; do :; done; echo "host read $line"; exit 3`)
	p.keys("cd weather; sessions resume --last; echo code $?", "Enter")
	p.shows("host begins")
	p.keys("C-c")
	p.shows("host was interrupted")
	p.keys("C-c")
	p.keys("on", "Enter")
	p.shows("host read on", "code 3")
}
