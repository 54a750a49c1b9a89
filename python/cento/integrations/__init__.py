"""Adapters for other programs. Each module imports the package that it is for:

- :mod:`cento.integrations.scrapy`: an item pipeline that drops or tags copied pages
- :mod:`cento.integrations.datatrove`: a filter block
- :mod:`cento.integrations.datasets`: a function for ``Dataset.map``

All of them look for labels (``cento discover``): the chunks of known pages, such as your own, those
of an earlier crawl, or boilerplate. They need no corpus, and a lookup takes microseconds.
"""
