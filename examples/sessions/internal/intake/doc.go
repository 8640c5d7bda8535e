// Package intake makes sessions of what package export wrote, or of the
// directory of a session: whole or not at all, and never over another one.
package intake
