//go:build !unix

package cli

import "github.com/amplifier-go/sessionstorage/slice/conversation"

// drawer returns nil: a console cannot be asked without losing what was typed ahead.
func (a *app) drawer() func(conversation.File) string { return nil }
