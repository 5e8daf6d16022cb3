"""What a language model does better than the rules, where one is configured; where it fails, theirs stands.

rewording               the overview of long prose
curating                what was planned for a night
"""
