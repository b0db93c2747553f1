"""The experiments of the paper on the NAO's arm (Poddighe 2013), and the question it left open."""
